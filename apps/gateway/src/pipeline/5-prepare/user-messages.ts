import type { UserMessage } from "@signalbox/agent-core";
import { formatAttachment } from "@signalbox/attachments";
import { getSpeakerKey } from "@signalbox/channel";
import { resolveSenderName } from "@signalbox/channel/accounts";
import { type BriefMessage, createDeletedNote, createSummaryNote, formatBody } from "@signalbox/prompt";
import type { GatewayContext } from "../../context.ts";
import { getPlainText, type QueuedMessage } from "../../messages/queued-message.ts";
import { describeMessage } from "./inbound-context.ts";
import { getMessageFiles } from "./message-files.ts";

/** Placeholder for a forwarded message, whose text is in the context. */
const FORWARD_NOTE = "[forwarded message]";

/** Converts messages to the form in which the history stores them, one for each message, in order. */
export function toUserMessages(
  ctx: GatewayContext,
  messages: readonly QueuedMessage[],
): Promise<UserMessage[]> {
  return Promise.all(
    messages.map(async (message): Promise<UserMessage> => {
      const { event, trigger } = message.stored;
      const [content, context] = await Promise.all([body(ctx, message), describeMessage(ctx, message)]);
      const senderId = trigger === undefined ? getSpeakerKey(event) : undefined;
      return { role: "user", content, context, senderId, timestamp: event.timestamp };
    }),
  );
}

/** Summarizes messages beyond the queue's limit. */
export function toSummary({ now }: GatewayContext, messages: readonly QueuedMessage[]): UserMessage {
  return { role: "user", content: createSummaryNote(messages.map(brief)), timestamp: now() };
}

/** Informs the model about messages that were deleted on their platform after the model had read them. */
export function toDeletionNote({ now }: GatewayContext, messages: readonly QueuedMessage[]): UserMessage {
  return { role: "user", content: createDeletedNote(messages.map(brief)), timestamp: now() };
}

async function body(ctx: GatewayContext, message: QueuedMessage): Promise<string> {
  const { event } = message.stored;
  // Files of referenced messages come after the message's own files. Only the context mentions them.
  const files = await ctx.media.in.take(getMessageFiles(ctx, message));
  const notes = files.slice(0, event.media.length).map(formatAttachment);
  const forwards = (event.references ?? []).filter(({ kind }) => kind === "forward");
  const lines = [getPlainText(message), ...notes, ...forwards.map(() => FORWARD_NOTE)];
  const text = lines.filter((line) => line !== "").join("\n");
  // The gateway's own clients need no envelope with the sender's name.
  if (ctx.getCapabilities(event.channel, event.account)?.authenticatedByGateway === true) return text;
  return formatBody({
    messageId: event.messageId,
    senderName: await resolveSenderName(event, ctx.getAccount(event.channel, event.account)),
    text,
  });
}

function brief({ stored: { event } }: QueuedMessage): BriefMessage {
  const { messageId, sender, text } = event;
  return { messageId, senderName: sender.name ?? sender.id, text };
}
