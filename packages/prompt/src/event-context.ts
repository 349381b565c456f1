import type { MessageEvent } from "@signalbox/channel";
import {
  buildInboundContext,
  type ContextDocument,
  type ContextMessage,
  type InboundBlock,
} from "./inbound.ts";

/** What is known of a message besides its event. */
export interface EventFacts {
  /** The speaker's role, as policy has it. */
  readonly role: string;
  /** As the conversation knows the sender. */
  readonly senderName: string;
  /** Whether its client shows a token of the host: then it need not be told of its own words. */
  readonly isOwnClient: boolean;
  /** What others said since the agent was last addressed. */
  readonly history: readonly ContextMessage[];
  readonly pages: readonly ContextDocument[];
  readonly files: readonly ContextDocument[];
  /** What memory has that bears on the message, a line each. */
  readonly memory: readonly string[];
  /** IANA zone of the times shown. */
  readonly timeZone: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What the model is told beside a channel's message: what it quotes and brings. Its own words are in the history. */
export function eventContext(event: MessageEvent, facts: EventFacts): string {
  const { role, senderName, isOwnClient, history, pages, files, memory, timeZone, now } = facts;
  const { conversation, replyTo } = event;
  const { blocks } = buildInboundContext({
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
    history,
    files,
    pages,
    memory,
    timeZone,
    now,
    text: event.text,
  });
  const told = blocks.filter(({ name, trusted }) =>
    isOwnClient ? trusted || BROUGHT_ALONG.has(name) : name !== "body",
  );
  return told.map(({ text }) => text).join("\n\n");
}

/** What of the untrusted context a client of the host itself does not know already. */
const BROUGHT_ALONG: ReadonlySet<InboundBlock["name"]> = new Set([
  "pages",
  "files",
  "quoted",
  "memory",
] as const);

function quotedBy({
  messageId,
  text,
  senderId,
}: NonNullable<MessageEvent["replyTo"]> & { readonly text: string }): ContextMessage {
  return { messageId, text, ...(senderId === undefined ? {} : { senderId }) };
}
