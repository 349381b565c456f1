import type { Json, MediaRef, MessageEvent, Reference } from "@signalbox/channel";
import type { ContextMessage } from "./event-context.ts";

/** A group message that was not addressed to the agent. It is stored until a message is. */
export interface GroupEntry {
  readonly id: string;
  readonly senderId: string;
  /** Created by {@link createGroupBody}. */
  readonly body: unknown;
  readonly at: number;
}

/** Returns the storage key of the messages in a group or in one of its threads. */
export function getGroupKey({
  channel,
  account,
  conversation: { id, threadId, beginsThread = false },
}: Pick<MessageEvent, "channel" | "account" | "conversation">): string {
  const thread = threadId === undefined || beginsThread ? [] : [threadId];
  return JSON.stringify([channel, account, id, ...thread]);
}

/** Maximum length of the text of a stored reference, in UTF-16 code units. */
const MAX_REFERENCE_TEXT = 1_000;
/** The same for a forward, whose text is the content of its message. */
const MAX_FORWARDED_TEXT = 4_000;
/** Maximum number of attachments stored with a message. */
const MAX_MEDIA = 4;

/** Returns the content of a group message for storage, without undefined fields. */
export function createGroupBody({
  text,
  sender,
  media,
  references,
}: Pick<MessageEvent, "text" | "sender" | "media" | "references">): Json {
  const body = {
    text,
    name: sender.name,
    media: media.length === 0 ? undefined : media.slice(0, MAX_MEDIA),
    references: references?.map((reference) => ({
      ...reference,
      text: reference.text && shorten(reference.text, reference.kind),
      media: reference.media?.slice(0, MAX_MEDIA),
    })),
  };
  return JSON.parse(JSON.stringify(body));
}

function shorten(text: string, kind: Reference["kind"]): string {
  const maxLength = kind === "forward" ? MAX_FORWARDED_TEXT : MAX_REFERENCE_TEXT;
  return text.length <= maxLength ? text.toWellFormed() : `${text.slice(0, maxLength).toWellFormed()}…`;
}

/** Converts a stored message to context for a message that is addressed to the agent. */
export function toGroupMessage({ id, senderId, body, at }: GroupEntry): ContextMessage {
  const { text, name, media, references } = toRecord(body);
  return {
    messageId: id,
    senderId,
    timestamp: at,
    text: typeof text === "string" ? text : "",
    senderName: typeof name === "string" ? name : undefined,
    media: getObjects(media),
    references: getObjects(references),
  };
}

/** Returns the attachments of a stored message and of the messages to which it refers. */
export function getGroupMedia({ body }: Pick<GroupEntry, "body">): readonly MediaRef[] {
  const { media, references } = toRecord(body);
  const referenced = (getObjects<Reference>(references) ?? []).flatMap((reference) => reference.media ?? []);
  return [...(getObjects<MediaRef>(media) ?? []), ...referenced];
}

/** Returns the objects of a stored list, or `undefined` if it is not a list. */
function getObjects<Item extends object>(value: unknown): readonly Item[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === "object" && item !== null) : undefined;
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return value !== null && typeof value === "object" ? { ...value } : {};
}
