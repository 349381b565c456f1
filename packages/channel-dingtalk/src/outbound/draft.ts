import {
  createEditedDraft,
  type Draft,
  type DraftOptions,
  fitText,
  isChannelError,
} from "@signalbox/channel";
import type { DingTalkAddress } from "../address.ts";
import { limits } from "../limits.ts";
import { type Cards, type CardText, createCardId } from "./cards.ts";
import { renderCardText } from "./render.ts";
import type { Sender } from "./send.ts";

/** Creates a draft as a card, whose id is derived from the draft's key, and which the finished text stays in. */
export function createDraft(
  { cards, sender }: { readonly cards: Cards; readonly sender: Sender },
  to: DingTalkAddress,
  options: DraftOptions,
): Draft {
  const { signal } = options;
  return createEditedDraft<CardText>(
    {
      snapshot(text) {
        const fitting = fitText(text, { max: limits.partBytes, unit: "bytes" });
        return { markdown: renderCardText({ type: "markdown", text: fitting }), isFinal: false };
      },
      render: (part) => ({ markdown: renderCardText(part), isFinal: true }),
      async create(text, { key }) {
        const outTrackId = createCardId(key);
        await cards.create(to, outTrackId, text, signal);
        return outTrackId;
      },
      change: (outTrackId, text) => cards.change(outTrackId, text, signal),
      remove: (outTrackId) => removeCard({ cards, sender }, to, outTrackId, signal),
      sendRest: (message, how) => sender.send(to, message, { ...how, signal }),
    },
    options,
  );
}

/** Takes a card back. If DingTalk refuses that, the card shows an ellipsis and is finished. */
export async function removeCard(
  { cards, sender }: { readonly cards: Cards; readonly sender: Sender },
  to: DingTalkAddress,
  outTrackId: string,
  signal: AbortSignal,
): Promise<void> {
  const carrierId = await cards.carrier(outTrackId);
  try {
    if (carrierId !== undefined) return await sender.recall(to, carrierId, signal);
  } catch (error) {
    if (!isChannelError(error) || !["not_found", "invalid", "permission"].includes(error.code)) throw error;
  }
  await cards.change(outTrackId, { markdown: "…", isFinal: true }, signal);
}
