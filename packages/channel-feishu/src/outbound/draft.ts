import { createEditedDraft, type Draft, type DraftOptions, fitText } from "@signalbox/channel";
import type { FeishuAddress } from "../address.ts";
import { limits } from "../limits.ts";
import { renderCard } from "./render.ts";
import type { Sender } from "./send.ts";

/** A draft is a card: the one kind of message that can be changed as often as one likes. */
export function createDraft(sender: Sender, to: FeishuAddress, options: DraftOptions): Draft {
  const { signal } = options;
  return createEditedDraft(
    {
      snapshot: (text) =>
        renderCard({ type: "markdown", text: fitText(text, { max: limits.partBytes, unit: "bytes" }) }),
      render: renderCard,
      create: (content, { key, replyTo }) => sender.sendCard(to, content, { replyTo, uuid: key, signal }),
      change: (messageId, content) => sender.patchCard(messageId, content, signal),
      remove: (messageId) => sender.remove(messageId, signal),
      sendRest: (message, how) => sender.send(to, message, { ...how, signal }),
    },
    options,
  );
}
