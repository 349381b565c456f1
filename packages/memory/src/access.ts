import type { Author, Reader, Scope } from "./types.ts";

/**
 * The access rule: a reader may see a chunk if they share at least one label.
 *
 * A chunk has the label of its scope. If it comes from a group, it also has the label of its author, so that people can
 * find their own group messages in private. A reader in a group has only the label of that group, because other members
 * also read the answer.
 */
export interface Key {
  has(label: string): boolean;
  readonly labels: readonly string[];
}

const MASTER_KEY: Key = { has: () => true, labels: [] };

const EVERYONE = "everyone";
const PERSON = "person:";
const CHAT = "chat:";
/** Label of all content from groups. */
const ANY_CHAT = "any-chat";

/** The fields of a chunk that determine who may see it. */
export interface Guarded {
  readonly scope: Scope;
  readonly author?: Author;
}

export function labelsOf({ scope, author }: Guarded): string[] {
  if (scope.kind !== "chat") return [labelOf(scope)];
  return [labelOf(scope), ANY_CHAT, ...(author === undefined ? [] : [`${PERSON}${author.id}`])];
}

export function keyOf(reader: Reader | "all"): Key {
  if (reader === "all") return MASTER_KEY;
  const { person = [], chats = [] } = reader;
  const people = typeof person === "string" ? [person] : person;
  const labels = new Set([
    EVERYONE,
    ...people.map((id) => `${PERSON}${id}`),
    ...(chats === "all" ? [ANY_CHAT] : chats.map((chat) => `${CHAT}${chat}`)),
  ]);
  return { has: (label) => labels.has(label), labels: [...labels] };
}

export function opens(key: Key, guarded: Guarded): boolean {
  return sharesLabel(key, labelsOf(guarded));
}

export function sharesLabel(key: Key, labels: readonly string[]): boolean {
  return labels.some((label) => key.has(label));
}

/** Returns the access labels of a row of the index. */
export function guardOf(row: { readonly scope: string; readonly authorId: string | null }): Guarded {
  return { scope: scopeOf(row.scope), author: row.authorId === null ? undefined : { id: row.authorId } };
}

/** Serializes a scope as a label. */
export function labelOf(scope: Scope): string {
  switch (scope.kind) {
    case "everyone":
      return EVERYONE;
    case "person":
      return `${PERSON}${scope.person}`;
    case "chat":
      return `${CHAT}${scope.chat}`;
  }
}

/** Parses the label of a scope. An unknown label becomes the scope of a person who does not exist. */
export function scopeOf(label: string): Scope {
  if (label === EVERYONE) return { kind: "everyone" };
  if (label.startsWith(CHAT)) return { kind: "chat", chat: label.slice(CHAT.length) };
  return { kind: "person", person: label.slice(PERSON.length) };
}
