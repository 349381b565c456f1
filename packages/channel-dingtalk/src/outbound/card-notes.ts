import { type ChannelContext, isPayload, type Json, objectsAt, textAt } from "@signalbox/channel";
import { limits } from "../limits.ts";

/** Notes about the latest cards of a bot. They survive a crash. */
export interface CardNotes {
  /** Notes that a card is about to be created. Returns true if an earlier attempt may have created it. */
  begin(outTrackId: string): Promise<boolean>;
  /** Notes the id of the message that shows a card. */
  setCarrier(outTrackId: string, carrierId: string): Promise<void>;
  /** Returns the id of the message that shows a card, if it is known. */
  getCarrier(outTrackId: string): Promise<string | undefined>;
}

/** @param botId the platform's id of the bot */
export function createCardNotes({ state }: Pick<ChannelContext, "state">, botId: string): CardNotes {
  const key = `${botId} cards`;
  /** Carriers by card, oldest first. */
  let loading: Promise<Map<string, string | undefined>> | undefined;
  let saving: Promise<void> = Promise.resolve();

  async function load(): Promise<Map<string, string | undefined>> {
    const stored = await state.get(key);
    const cards = isPayload(stored) ? objectsAt(stored, "cards") : [];
    return new Map(cards.map((card) => [textAt(card, "id") ?? "", textAt(card, "carrierId")]));
  }

  function getCards(): Promise<Map<string, string | undefined>> {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  }

  /** Saves one version at a time, so that an older one never replaces a newer one. */
  async function set(outTrackId: string, carrierId?: string): Promise<void> {
    const cards = await getCards();
    cards.set(outTrackId, carrierId);
    const oldest = cards.size > limits.notedCards ? cards.keys().next().value : undefined;
    if (oldest !== undefined) cards.delete(oldest);
    const save = (): Promise<void> =>
      state.set(key, { cards: [...cards].map(([id, carrier]): Json => ({ id, carrierId: carrier })) });
    saving = saving.then(save, save);
    await saving;
  }

  return {
    async begin(outTrackId) {
      if ((await getCards()).has(outTrackId)) return true;
      await set(outTrackId);
      return false;
    },
    setCarrier: set,
    getCarrier: async (outTrackId) => (await getCards()).get(outTrackId),
  };
}
