import type { AgentMessage, InputBlock, UserMessage } from "@signalbox/agent-core";
import { attachmentNote, type Incoming } from "@signalbox/attachments";
import type { ChannelDefinition } from "@signalbox/channel";
import { senderName } from "@signalbox/channel/accounts";
import { formatBody } from "@signalbox/prompt";
import type { Account } from "@signalbox/setup";
import { type QueuedMessage, spokenText } from "../4-queue/message.ts";
import { filesOf } from "./files-of.ts";

export interface UserMessagesPorts {
  readonly account: (channel: string, account: string) => Account | undefined;
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
  readonly incoming: Pick<Incoming, "take">;
  readonly now: () => number;
}

/** Messages as the history keeps them. */
export interface UserMessages {
  /** One of each message, in order. */
  of(messages: readonly QueuedMessage[]): Promise<UserMessage[]>;
  /** Messages beyond the queue's cap, in short. */
  summary(messages: readonly QueuedMessage[]): UserMessage;
  /** Messages that were deleted on their platform after the model had read them. */
  takenBack(messages: readonly QueuedMessage[]): UserMessage;
}

const SHORTENED_CHARS = 200;

export function createUserMessages(ports: UserMessagesPorts): UserMessages {
  const { now } = ports;
  const body = async (message: QueuedMessage): Promise<string> => {
    const { event } = message.stored;
    const notes = (await ports.incoming.take(filesOf(message))).map(attachmentNote);
    const text = [spokenText(message), ...notes].filter((line) => line !== "").join("\n");
    // Clients of the gateway itself speak for themselves: their text stands without an envelope.
    if (ports.definition(event.channel, event.account)?.capabilities.authenticatedByGateway === true)
      return text;
    return formatBody({
      messageId: event.messageId,
      senderName: await senderName(event, ports.account(event.channel, event.account)),
      text,
    });
  };
  const listed = (head: string, messages: readonly QueuedMessage[]): UserMessage => ({
    role: "user",
    content: [head, ...messages.map(inShort)].join("\n"),
    timestamp: now(),
  });

  return {
    of: (messages) =>
      Promise.all(
        messages.map(async (message): Promise<UserMessage> => {
          const { timestamp } = message.stored.event;
          return { role: "user", content: await body(message), timestamp };
        }),
      ),
    summary: (messages) =>
      listed(`${messages.length} earlier messages arrived while you were busy. In short:`, messages),
    takenBack: (messages) =>
      listed(
        `${TAKEN_BACK}Their senders took these messages back. Neither answer them nor act on them:`,
        messages,
      ),
  };
}

const TAKEN_BACK = "(deleted) ";

/** Whether a message of a history is the gateway's own word on what was taken back: it quotes that. */
export function isTakenBackNote(text: string): boolean {
  return text.startsWith(TAKEN_BACK);
}

/** Earlier turns of a conversation that its client keeps itself. */
export function clientHistory({ stored: { event } }: QueuedMessage): AgentMessage[] {
  const { timestamp } = event;
  return (event.turn?.history ?? []).map(({ role, text, pictures = [] }): AgentMessage => {
    if (role === "user") return { role, content: withPictures(text, pictures), timestamp };
    const origin = { api: "client", provider: "client", model: "client" };
    return { role, content: [{ type: "text", text }], ...origin, stopReason: "end_turn", timestamp };
  });
}

function withPictures(
  text: string,
  pictures: readonly { readonly mimeType: string; readonly data: string }[],
): UserMessage["content"] {
  if (pictures.length === 0) return text;
  const shown = pictures.map(
    ({ mimeType, data }): InputBlock => ({ type: "image", mimeType, source: { kind: "base64", data } }),
  );
  return text === "" ? shown : [{ type: "text", text }, ...shown];
}

function inShort({ stored: { event } }: QueuedMessage): string {
  const { messageId, sender, text } = event;
  const body = formatBody({ messageId, senderName: sender.name ?? sender.id, text });
  return `- ${body.replace(/\s+/g, " ").slice(0, SHORTENED_CHARS)}`;
}
