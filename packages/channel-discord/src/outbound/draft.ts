import { createEditedDraft, type Draft, type DraftOptions, fitText } from "@signalbox/channel";
import type { DiscordAddress } from "../address.ts";
import { limits } from "../limits.ts";
import { renderPart } from "./render.ts";
import type { Sender } from "./send.ts";

/** Creates a draft: a message that is edited as the answer grows. */
export function createDraft(sender: Sender, to: DiscordAddress, options: DraftOptions): Draft {
  const { signal } = options;
  const { channelId } = to;
  return createEditedDraft(
    {
      snapshot: (text) =>
        renderPart({ type: "markdown", text: fitText(text, { max: limits.partLength, unit: "utf16" }) }),
      render: renderPart,
      create: (content, { key, replyTo }) => sender.post(to, content, { key, replyTo, signal }),
      change: (messageId, content) => sender.change(channelId, messageId, content, signal),
      remove: (messageId) => sender.remove(channelId, messageId, signal),
      // The response to the command is the first part.
      sendRest: (message, how) => sender.send({ channelId }, message, { ...how, signal }),
    },
    options,
  );
}
