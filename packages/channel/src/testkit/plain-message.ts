import type { MessageEvent } from "../contract/events.ts";

/** A message as simple as can be, for tests of what is done with messages; `more` says what is special about it. */
export function plainMessage(more: Partial<MessageEvent> = {}): MessageEvent {
  return {
    type: "message",
    eventId: "e",
    messageId: "m",
    channel: "plain",
    account: "main",
    conversation: { id: "room", kind: "direct" },
    address: "room",
    addressed: "dm",
    sender: { id: "anna", isBot: false, isSelf: false },
    timestamp: 0,
    text: "hello",
    media: [],
    mentions: [],
    ...more,
  };
}

/** What a host keeps a message under: where it came from, what it is called there, and who sent it. */
export function keysOf(event: MessageEvent): Pick<
  MessageEvent,
  "channel" | "account" | "eventId" | "messageId"
> & {
  readonly conversationId: string;
  readonly senderId: string;
} {
  const { channel, account, eventId, messageId, conversation, sender } = event;
  return { channel, account, eventId, messageId, conversationId: conversation.id, senderId: sender.id };
}
