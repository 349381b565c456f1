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

/** A message or an edited message. */
type WithBody = MessageBody & {
  readonly conversation: Conversation;
  readonly sender: { readonly name?: string };
};

const UNTYPED = "application/octet-stream";

/**
 * Normalizes a message from a channel that may violate the contract. The result has `\n` line endings and well-formed
 * text, a valid conversation kind, no missing lists, and attachments with a type.
 */
export function normalizeEvent<Event extends WithBody>(event: Event): Event {
  const { conversation, sender, references, forwarded, media, mentions } = event;
  return {
    ...event,
    text: plain(event.text),
    conversation: {
      ...conversation,
      // The most restrictive kind, because groups admit only listed senders.
      kind: conversationKinds.includes(conversation.kind) ? conversation.kind : "group",
      ...named("subject", conversation.subject),
    },
    sender: { ...sender, ...named("name", sender.name) },
    media: (media ?? []).map(normalizeMedia),
    mentions: (mentions ?? []).map((mention) => ({ ...mention, ...named("name", mention.name) })),
    references: references && normalizeReferences(references),
    forwarded: forwarded && { ...forwarded, ...named("from", forwarded.from) },
  };
}

/** Normalizes a client's options. */
export function normalizeTurn(turn: TurnRequest): TurnRequest {
  const { history, instructions } = turn;
  return {
    ...turn,
    history: history?.map((one) => ({ ...one, text: plain(one.text) })),
    instructions: instructions === undefined ? undefined : plain(instructions),
  };
}

/** Drops references of an unknown kind and those above the limit. */
function normalizeReferences(references: readonly Reference[]): readonly Reference[] {
  return references
    .filter(({ kind }) => referenceKinds.includes(kind))
    .slice(0, MAX_REFERENCES)
    .map(({ text, sender, media, ...reference }) => ({
      ...reference,
      text: text === undefined ? undefined : plain(text),
      sender: sender && { ...sender, ...named("name", sender.name) },
      media: media?.map(normalizeMedia),
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

/** Model vendors reject lone surrogates, and NUL terminates text in many systems. */
function plain(text: string): string {
  const clean = typeof text === "string" ? text : "";
  return normalizeLineEnds(clean.isWellFormed() ? clean : clean.toWellFormed()).replaceAll("\0", "");
}

/** Normalizes a name to a single line. */
function named<Key extends string>(key: Key, name: string | undefined): { [K in Key]?: string } {
  const made: { [K in Key]?: string } = {};
  if (name !== undefined) made[key] = plain(name).replaceAll("\n", " ");
  return made;
}
