import { mediaKinds } from "../contract/capabilities.ts";
import {
  type Conversation,
  conversationKinds,
  MAX_REFERENCES,
  type MediaRef,
  type MessageBody,
  type Reference,
  referenceKinds,
  type TurnRequest,
} from "../contract/events.ts";
import { normalizeLineEnds } from "../text.ts";

/** What both a message and its later version have. */
type Spoken = MessageBody & {
  readonly conversation: Conversation;
  readonly sender: { readonly name?: string };
};

const UNTYPED = "application/octet-stream";

/**
 * A message in the one form that a host relies on, whatever its channel left undone: `\n` line ends and whole
 * characters in every text, a valid kind of chat, no missing lists, attachments with a type.
 */
export function normalizeEvent<Event extends Spoken>(event: Event): Event {
  const { conversation, sender, references, forwarded, media, mentions } = event;
  return {
    ...event,
    text: plain(event.text),
    conversation: {
      ...conversation,
      // A place of an unknown kind is one where only who is listed has a say.
      kind: conversationKinds.includes(conversation.kind) ? conversation.kind : "group",
      ...named("subject", conversation.subject),
    },
    sender: { ...sender, ...named("name", sender.name) },
    media: (media ?? []).map(normalizeMedia),
    mentions: (mentions ?? []).map((mention) => ({ ...mention, ...named("name", mention.name) })),
    ...(references === undefined ? {} : { references: normalizeReferences(references) }),
    ...(forwarded === undefined ? {} : { forwarded: { ...forwarded, ...named("from", forwarded.from) } }),
  };
}

/** The same of what a client of the host wants of the turn. */
export function normalizeTurn(turn: TurnRequest): TurnRequest {
  const { history, instructions } = turn;
  return {
    ...turn,
    ...(history === undefined ? {} : { history: history.map((one) => ({ ...one, text: plain(one.text) })) }),
    ...(instructions === undefined ? {} : { instructions: plain(instructions) }),
  };
}

/** References of an unknown kind are dropped, and so are those beyond the limit. */
function normalizeReferences(references: readonly Reference[]): readonly Reference[] {
  return references
    .filter(({ kind }) => referenceKinds.includes(kind))
    .slice(0, MAX_REFERENCES)
    .map(({ text, sender, media, ...reference }) => ({
      ...reference,
      ...(text === undefined ? {} : { text: plain(text) }),
      ...(sender === undefined ? {} : { sender: { ...sender, ...named("name", sender.name) } }),
      ...(media === undefined ? {} : { media: media.map(normalizeMedia) }),
    }));
}

function normalizeMedia(item: MediaRef): MediaRef {
  return {
    ...item,
    kind: mediaKinds.includes(item.kind) ? item.kind : "file",
    mimeType: typeof item.mimeType === "string" && item.mimeType !== "" ? item.mimeType : UNTYPED,
    ...named("name", item.name),
  };
}

/** A vendor refuses half a character for as long as it stays in the history, and NUL ends texts in many systems. */
function plain(text: string): string {
  const clean = typeof text === "string" ? text : "";
  return normalizeLineEnds(clean.isWellFormed() ? clean : clean.toWellFormed()).replaceAll("\0", "");
}

/** A name has one line. */
function named<Key extends string>(key: Key, name: string | undefined): { [K in Key]?: string } {
  const made: { [K in Key]?: string } = {};
  if (name !== undefined) made[key] = plain(name).replaceAll("\n", " ");
  return made;
}
