import type { MediaRef, MessageEvent, Reference } from "@signalbox/channel";
import { cleanSenderName } from "./envelope.ts";
import { HEADINGS } from "./headings.ts";
import { escapeJson, formatJsonBlock } from "./json-block.ts";
import { cleanText, oneLine } from "./neutralize.ts";
import { formatTimestamp } from "./timestamp.ts";

/** The fields of an event that the model receives. */
export type ContextEvent = Pick<
  MessageEvent,
  "channel" | "conversation" | "messageId" | "timestamp" | "addressed" | "references"
> & { readonly sender: Pick<MessageEvent["sender"], "id"> };

/** Facts about a message that its event does not contain. */
export interface EventFacts {
  /** The sender's role according to the policy. */
  readonly role: string;
  /** The sender's name in the conversation. */
  readonly senderName: string;
  /**
   * True if the client authenticates with a token of the host. The context then omits the conversation and the sender,
   * which the client already knows.
   */
  readonly isOwnClient: boolean;
  /** IANA time zone of the displayed times. */
  readonly timeZone: string;
  /** Time of the answer, in milliseconds since the epoch. */
  readonly now: number;
}

/** A message that is only context and does not need an answer. */
export interface ContextMessage {
  readonly senderName?: string;
  readonly senderId?: string;
  readonly messageId?: string;
  /** Milliseconds since the epoch. */
  readonly timestamp?: number;
  readonly text: string;
  readonly media?: readonly Pick<MediaRef, "kind" | "name">[];
  readonly references?: readonly Reference[];
}

/** A page that the message links to, or a file sent with it. */
export interface ContextDocument {
  /** The URL of the page, or the path of the file in the workspace. Absent if the file was not stored. */
  readonly place?: string;
  /** The name that its author chose. */
  readonly name?: string;
  readonly type?: string;
  /** The content, shortened by the caller. Absent if it was not read. */
  readonly text?: string;
  /** True if the text was shortened. */
  readonly cut?: boolean;
  /** The reason why the content could not be read or stored, as formulated by the host. */
  readonly note?: string;
}

/** Context that was read for a message. All of it is untrusted. */
export interface UntrustedContext {
  /** Messages in the group since the agent's last answer, oldest first. */
  readonly history?: readonly ContextMessage[];
  /** Messages of the conversation that were edited after they were answered. */
  readonly edited?: readonly ContextMessage[];
  /** Messages that agents posted to this conversation from other ones, oldest first. */
  readonly sent?: readonly ContextMessage[];
  /** Messages of the agent that were not delivered, with the platform's reasons. */
  readonly undelivered?: readonly ContextMessage[];
  /** Files sent with the message. */
  readonly files?: readonly ContextDocument[];
  /** Pages that the message links to. */
  readonly pages?: readonly ContextDocument[];
}

/** Version of the trusted metadata. */
const META_SCHEMA = "signalbox.inbound_meta.v1";

const MAX_CONTEXT_TEXT = 4_000;
/** A forwarded text is often the subject of the request, for instance a conversation to summarize. */
const MAX_FORWARDED_TEXT = 20_000;

/**
 * Describes a message to the model: who wrote it, where, when, and what it quotes. The text of the message is not part
 * of it. The context stays before the message for as long as that is in the conversation.
 *
 * @example
 * ```ts
 * const context = createEventContext(event, {
 *   role: "owner",
 *   senderName: "Ann",
 *   isOwnClient: false,
 *   timeZone: "Asia/Shanghai",
 *   now: Date.now(),
 * });
 * const message = { role: "user", content: formatBody({ messageId, senderName, text }), context, timestamp };
 * ```
 */
export function createEventContext(event: ContextEvent, facts: EventFacts): string {
  const { channel, conversation, messageId, references = [] } = event;
  const { role, timeZone, now } = facts;
  const senderId = event.sender.id;
  const sender = formatName(facts.senderName, senderId);
  const metadata = {
    schema: META_SCHEMA,
    channel,
    provider: channel,
    surface: channel,
    chat_type: conversation.kind,
    role,
    time: formatTimestamp(now, timeZone),
  };
  const info = {
    chat_id: conversation.id,
    message_id: messageId,
    sender_id: senderId,
    sender,
    timestamp: formatTimestamp(event.timestamp, timeZone),
    is_group_chat: conversation.kind !== "direct",
    was_mentioned: event.addressed === "mention",
    thread_id: conversation.threadId,
    subject: conversation.subject === undefined ? undefined : oneLine(conversation.subject, 200),
  };
  const blocks = [formatJsonBlock(HEADINGS.inbound, metadata)];
  // A client of the host already knows its conversation and sender.
  if (!facts.isOwnClient)
    blocks.push(
      formatJsonBlock(HEADINGS.conversation, info),
      formatJsonBlock(HEADINGS.sender, { label: sender, id: senderId }),
    );
  for (const reference of references)
    blocks.push(formatJsonBlock(HEADINGS[reference.kind], describeReference(reference, timeZone)));
  return blocks.join("\n\n");
}

/** Describes a referenced message. If only its id is known, the model can still find it in the conversation. */
function describeReference(reference: Reference, timeZone: string): object {
  const { kind, messageId, sender = {}, timestamp, text, media } = reference;
  const maxText = kind === "forward" ? MAX_FORWARDED_TEXT : MAX_CONTEXT_TEXT;
  return {
    ...describeMessage({ messageId, timestamp, text: text ?? "", media }, timeZone),
    sender:
      sender.id === undefined && sender.name === undefined ? undefined : formatName(sender.name, sender.id),
    sender_id: sender.id,
    sent_by_you: sender.isSelf === true ? true : undefined,
    text: text === undefined ? undefined : shorten(cleanText(text), maxText),
  };
}

/** Formats untrusted context. Returns an empty string if there is none. */
export function createUntrustedContext(
  { history = [], edited = [], sent = [], undelivered = [], files = [], pages = [] }: UntrustedContext,
  timeZone: string,
): string {
  const toContext = (message: ContextMessage) => describeMessage(message, timeZone);
  return [
    ...formatList(HEADINGS.history, history.map(toContext)),
    ...formatList(HEADINGS.edited, edited.map(toContext)),
    ...formatList(HEADINGS.sent, sent.map(toContext)),
    ...formatList(HEADINGS.undelivered, undelivered.map(toContext)),
    ...formatList(HEADINGS.files, files.map(describeDocument)),
    ...formatList(HEADINGS.pages, pages.map(describeDocument)),
  ].join("\n\n");
}

/** Formats memory lines that match a message. Returns an empty string if there are no lines. */
export function createMemoryContext(lines: readonly string[]): string {
  return formatList(HEADINGS.memory, lines.map(cleanText)).join("");
}

/** Returns true if a string from {@link createMemoryContext} contains this line. */
export function hasMemoryLine(context: string, line: string): boolean {
  return context.includes(escapeJson(cleanText(line)));
}

function formatList(heading: string, items: readonly (string | object)[]): readonly string[] {
  return items.length === 0 ? [] : [formatJsonBlock(heading, items)];
}

function describeMessage(message: ContextMessage, timeZone: string): object {
  return {
    sender: formatName(message.senderName, message.senderId),
    sender_id: message.senderId,
    message_id: message.messageId,
    timestamp: message.timestamp === undefined ? undefined : formatTimestamp(message.timestamp, timeZone),
    text: shorten(cleanText(message.text)),
    attachments: nameAttachments(message.media),
    refers_to: message.references?.map((reference) => ({
      kind: reference.kind,
      ...describeReference(reference, timeZone),
    })),
  };
}

/** Maximum number of attachments to list for a context message. */
const MAX_NAMED_ATTACHMENTS = 10;

function nameAttachments(media: ContextMessage["media"] = []): readonly string[] | undefined {
  if (media.length === 0) return undefined;
  return media
    .slice(0, MAX_NAMED_ATTACHMENTS)
    .map(({ kind, name }) => (name === undefined ? kind : `${kind} ${oneLine(name, 200)}`));
}

function describeDocument({ place, name, type, text, cut, note }: ContextDocument): object {
  return {
    place: place === undefined ? undefined : oneLine(place, 2_000),
    name: name === undefined ? undefined : oneLine(name, 200),
    type: type === undefined ? undefined : oneLine(type, 100),
    note,
    text: text === undefined ? undefined : cleanText(text).toWellFormed(),
    cut: cut === true ? true : undefined,
  };
}

function formatName(name: string | undefined, id: string | undefined): string {
  return cleanSenderName(name === undefined || name.trim() === "" ? (id ?? "") : name);
}

function shorten(text: string, maxLength: number = MAX_CONTEXT_TEXT): string {
  const whole = text.toWellFormed();
  return whole.length <= maxLength ? whole : `${whole.slice(0, maxLength).toWellFormed()}…`;
}
