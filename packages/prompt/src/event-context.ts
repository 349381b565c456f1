import type { MessageEvent } from "@signalbox/channel";
import {
  type Brought,
  broughtBlocks,
  type ContextMessage,
  factBlocks,
  type InboundBlock,
  memoryBlock,
  memoryLine,
} from "./inbound.ts";

/** What is known of a message besides its event. */
export interface EventFacts {
  /** The speaker's role, as policy has it. */
  readonly role: string;
  /** As the conversation knows the sender. */
  readonly senderName: string;
  /** Whether its client shows a token of the host: then it need not be told of its own words. */
  readonly isOwnClient: boolean;
  /** IANA zone of the times shown. */
  readonly timeZone: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * What the model is told before a channel's message for as long as the message is in the conversation: who wrote it,
 * where, when, and what it quotes. Its own words are not in it.
 */
export function eventContext(event: MessageEvent, facts: EventFacts): string {
  const { role, senderName, isOwnClient, timeZone, now } = facts;
  const { conversation, replyTo } = event;
  const blocks = factBlocks({
    trusted: { channel: event.channel, chatType: conversation.kind, role },
    conversation: {
      chatId: conversation.id,
      messageId: event.messageId,
      senderId: event.sender.id,
      senderName,
      timestamp: event.timestamp,
      isGroupChat: conversation.kind !== "direct",
      wasMentioned: event.addressed === "mention",
      ...(conversation.threadId === undefined ? {} : { threadId: conversation.threadId }),
      ...(conversation.subject === undefined ? {} : { subject: conversation.subject }),
    },
    ...(replyTo?.text === undefined ? {} : { quoted: quotedBy({ ...replyTo, text: replyTo.text }) }),
    timeZone,
    now,
  });
  // A client of the host itself knows its conversation and who writes there.
  return textOf(blocks.filter(({ name, trusted }) => !isOwnClient || trusted || name === "quoted"));
}

/** What was read for a message, all of it untrusted; empty where there was nothing. */
export function broughtContext(brought: Brought, timeZone: string): string {
  return textOf(broughtBlocks(brought, timeZone));
}

/** What memory has that bears on a message, a line each; empty where there is nothing. */
export function memoryContext(lines: readonly string[]): string {
  return textOf(memoryBlock(lines));
}

/** Whether a text of {@link memoryContext} holds this line. */
export function isRecalled(context: string, line: string): boolean {
  return context.includes(memoryLine(line));
}

function textOf(blocks: readonly InboundBlock[]): string {
  return blocks.map(({ text }) => text).join("\n\n");
}

function quotedBy({
  messageId,
  text,
  senderId,
}: NonNullable<MessageEvent["replyTo"]> & { readonly text: string }): ContextMessage {
  return { messageId, text, ...(senderId === undefined ? {} : { senderId }) };
}
