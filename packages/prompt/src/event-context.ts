import type { MediaRef, MessageEvent, Reference } from "@signalbox/channel";
import { cleanSenderName } from "./envelope.ts";
import { escapedJson, jsonBlock } from "./fenced-json.ts";
import { HEADINGS } from "./headings.ts";
import { cleanText, oneLine } from "./neutralise.ts";
import { formatTimestamp } from "./timestamp.ts";

/** The part of a message that the model is told. */
export type ToldEvent = Pick<
  MessageEvent,
  "channel" | "conversation" | "messageId" | "timestamp" | "addressed" | "references"
> & { readonly sender: Pick<MessageEvent["sender"], "id"> };

/** What is known of a message in addition to its event. */
export interface EventFacts {
  /** The speaker's role, as policy has it. */
  readonly role: string;
  /** As the conversation knows the sender. */
  readonly senderName: string;
  /** Whether its client shows a token of the host: then it need not be told of its own words. */
  readonly isOwnClient: boolean;
  /** IANA zone of the times shown. */
  readonly timeZone: string;
  /** The time at which the message is answered, in milliseconds since the epoch. */
  readonly now: number;
}

/** A message that is context, not the one to answer. */
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

/** What came with the message and was read for it: a page it links to, or a file sent with it. */
export interface ContextDocument {
  /** Where it is: a page's address, a file's path in the workspace. Absent where it was kept nowhere. */
  readonly place?: string;
  /** As whoever made it calls it. */
  readonly name?: string;
  readonly type?: string;
  /** As long as the caller lets it be. Absent: it was not read. */
  readonly text?: string;
  /** There is more of the text. */
  readonly cut?: boolean;
  /** Why it could not be read or kept, in words of the gateway. */
  readonly note?: string;
}

/** What was read for a message: none of it is known when the message comes in. */
export interface Brought {
  /** What was said in a group since the agent last spoke, oldest first. */
  readonly history?: readonly ContextMessage[];
  /** Messages of the conversation that were edited after they were answered. */
  readonly edited?: readonly ContextMessage[];
  /** What agents said there from other conversations, oldest first. */
  readonly sent?: readonly ContextMessage[];
  /** Files sent with the message. */
  readonly files?: readonly ContextDocument[];
  /** Pages the message links to. */
  readonly pages?: readonly ContextDocument[];
}

/** Names the shape of the trusted metadata. */
const META_SCHEMA = "signalbox.inbound_meta.v1";

const MAX_CONTEXT_TEXT = 4_000;

/**
 * What the model is told before a message, as long as that is in the conversation: who wrote it, where, when, and what
 * it quotes. It does not contain the message's own words.
 */
export function eventContext(event: ToldEvent, facts: EventFacts): string {
  const { channel, conversation, messageId, references = [] } = event;
  const { role, timeZone, now } = facts;
  const senderId = event.sender.id;
  const sender = displayName(facts.senderName, senderId);
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
  const blocks = [jsonBlock(HEADINGS.inbound, metadata)];
  // A client of the host itself knows its conversation and who writes there.
  if (!facts.isOwnClient)
    blocks.push(
      jsonBlock(HEADINGS.conversation, info),
      jsonBlock(HEADINGS.sender, { label: sender, id: senderId }),
    );
  for (const reference of references)
    blocks.push(jsonBlock(HEADINGS[reference.kind], referencedMessage(reference, timeZone)));
  return blocks.join("\n\n");
}

/** A message that another one refers to. If only its id is known, the model can still find it in the conversation. */
function referencedMessage(reference: Reference, timeZone: string): object {
  const { messageId, sender = {}, timestamp, text, media } = reference;
  return {
    ...contextMessage({ messageId, timestamp, text: text ?? "", media }, timeZone),
    sender:
      sender.id === undefined && sender.name === undefined ? undefined : displayName(sender.name, sender.id),
    sender_id: sender.id,
    sent_by_you: sender.isSelf === true ? true : undefined,
    text: text === undefined ? undefined : clip(cleanText(text)),
  };
}

/** What was read for a message, all of it untrusted; empty if there was nothing. */
export function broughtContext(
  { history = [], edited = [], sent = [], files = [], pages = [] }: Brought,
  timeZone: string,
): string {
  const inWords = (message: ContextMessage) => contextMessage(message, timeZone);
  return [
    ...listBlock(HEADINGS.history, history.map(inWords)),
    ...listBlock(HEADINGS.edited, edited.map(inWords)),
    ...listBlock(HEADINGS.sent, sent.map(inWords)),
    ...listBlock(HEADINGS.files, files.map(document)),
    ...listBlock(HEADINGS.pages, pages.map(document)),
  ].join("\n\n");
}

/** What memory has that matches a message, a line each; empty if there is nothing. */
export function memoryContext(lines: readonly string[]): string {
  return listBlock(HEADINGS.memory, lines.map(cleanText)).join("");
}

/** Whether a text of {@link memoryContext} holds this line. */
export function isRecalled(context: string, line: string): boolean {
  return context.includes(escapedJson(cleanText(line)));
}

function listBlock(heading: string, items: readonly (string | object)[]): readonly string[] {
  return items.length === 0 ? [] : [jsonBlock(heading, items)];
}

function contextMessage(message: ContextMessage, timeZone: string): object {
  return {
    sender: displayName(message.senderName, message.senderId),
    sender_id: message.senderId,
    message_id: message.messageId,
    timestamp: message.timestamp === undefined ? undefined : formatTimestamp(message.timestamp, timeZone),
    text: clip(cleanText(message.text)),
    attachments: attachmentNames(message.media),
    refers_to: message.references?.map((reference) => ({
      kind: reference.kind,
      ...referencedMessage(reference, timeZone),
    })),
  };
}

/** As many attachments of one context message are named. */
const MAX_NAMED_ATTACHMENTS = 10;

function attachmentNames(media: ContextMessage["media"] = []): readonly string[] | undefined {
  if (media.length === 0) return undefined;
  return media
    .slice(0, MAX_NAMED_ATTACHMENTS)
    .map(({ kind, name }) => (name === undefined ? kind : `${kind} ${oneLine(name, 200)}`));
}

function document({ place, name, type, text, cut, note }: ContextDocument): object {
  return {
    place: place === undefined ? undefined : oneLine(place, 2_000),
    name: name === undefined ? undefined : oneLine(name, 200),
    type: type === undefined ? undefined : oneLine(type, 100),
    note,
    text: text === undefined ? undefined : cleanText(text).toWellFormed(),
    cut: cut === true ? true : undefined,
  };
}

function displayName(name: string | undefined, id: string | undefined): string {
  return cleanSenderName(name === undefined || name.trim() === "" ? (id ?? "") : name);
}

function clip(text: string): string {
  const whole = text.toWellFormed();
  return whole.length <= MAX_CONTEXT_TEXT ? whole : `${whole.slice(0, MAX_CONTEXT_TEXT).toWellFormed()}…`;
}
