import type { Json, MediaRef, MessageEvent, Reference } from "@signalbox/channel";
import type { ContextMessage } from "./event-context.ts";

/** What is kept of a message in a group that was not addressed to the agent, until one is. */
export interface GroupEntry {
  readonly id: string;
  readonly senderId: string;
  /** See {@link groupWords}. */
  readonly body: unknown;
  readonly at: number;
}

/** Names what is kept of a group, or of one of its threads. */
export function groupKey({
  channel,
  account,
  conversation: { id, threadId, beginsThread = false },
}: Pick<MessageEvent, "channel" | "account" | "conversation">): string {
  const thread = threadId === undefined || beginsThread ? [] : [threadId];
  return JSON.stringify([channel, account, id, ...thread]);
}

/** Text of a reference that is stored with a message in a group, in UTF-16 code units. */
const MAX_REFERENCE_TEXT = 1_000;
/** Attachments that are stored with a message in a group. */
const MAX_MEDIA = 4;

/** Returns the content of a message in a group as it is stored, without undefined fields. */
export function groupWords({
  text,
  sender,
  media,
  references,
}: Pick<MessageEvent, "text" | "sender" | "media" | "references">): Json {
  const words = {
    text,
    name: sender.name,
    media: media.length === 0 ? undefined : media.slice(0, MAX_MEDIA),
    references: references?.map((reference) => ({
      ...reference,
      text: reference.text?.slice(0, MAX_REFERENCE_TEXT).toWellFormed(),
      media: reference.media?.slice(0, MAX_MEDIA),
    })),
  };
  return JSON.parse(JSON.stringify(words));
}

/** Returns a stored message as context for a message that is addressed to the agent. */
export function groupMessage({ id, senderId, body, at }: GroupEntry): ContextMessage {
  const { text, name, media, references } = recordOf(body);
  return {
    messageId: id,
    senderId,
    timestamp: at,
    text: typeof text === "string" ? text : "",
    senderName: typeof name === "string" ? name : undefined,
    media: objectsIn(media),
    references: objectsIn(references),
  };
}

/** Returns the attachments of a stored message and of the messages that it refers to. */
export function groupMedia({ body }: Pick<GroupEntry, "body">): readonly MediaRef[] {
  const { media, references } = recordOf(body);
  const referenced = (objectsIn<Reference>(references) ?? []).flatMap((reference) => reference.media ?? []);
  return [...(objectsIn<MediaRef>(media) ?? []), ...referenced];
}

/** The objects of a stored list, or `undefined` if it is not a list. */
function objectsIn<Item extends object>(value: unknown): readonly Item[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === "object" && item !== null) : undefined;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return value !== null && typeof value === "object" ? { ...value } : {};
}
