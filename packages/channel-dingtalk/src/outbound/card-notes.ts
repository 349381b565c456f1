import { createHash } from "node:crypto";
import { type ChannelContext, isPayload, textAt } from "@signalbox/channel";
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

/**
 * Stores notes in a fixed number of slots, which are chosen by a hash of the card's id, so that the state does not
 * grow. They are not cached, because another gateway can write them. A note that is overwritten is lost.
 *
 * @param botId the platform's id of the bot
 */
export function createCardNotes({ state }: Pick<ChannelContext, "state">, botId: string): CardNotes {
  function slotOf(outTrackId: string): string {
    const number = createHash("sha256").update(outTrackId).digest().readUInt32BE(0) % limits.notedCards;
    return `${botId} card ${number}`;
  }

  async function read(outTrackId: string) {
    const stored = await state.get(slotOf(outTrackId));
    return isPayload(stored) && stored["id"] === outTrackId ? stored : undefined;
  }

  return {
    async begin(outTrackId) {
      if ((await read(outTrackId)) !== undefined) return true;
      await state.set(slotOf(outTrackId), { id: outTrackId });
      return false;
    },
    setCarrier: (outTrackId, carrierId) => state.set(slotOf(outTrackId), { id: outTrackId, carrierId }),
    async getCarrier(outTrackId) {
      const note = await read(outTrackId);
      return note && textAt(note, "carrierId");
    },
  };
}
