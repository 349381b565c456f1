import type { MessageEvent } from "../contract/events.ts";

/** Creates a minimal message event for tests. `more` overrides fields. */
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

/** Returns the fields under which a host stores a message. */
export function getKeys(event: MessageEvent): Pick<
  MessageEvent,
  "channel" | "account" | "eventId" | "messageId"
> & {
  readonly conversationId: string;
  readonly senderId: string;
} {
  const { channel, account, eventId, messageId, conversation, sender } = event;
  return { channel, account, eventId, messageId, conversationId: conversation.id, senderId: sender.id };
}
