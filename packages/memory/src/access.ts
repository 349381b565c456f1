import type { Author, Reader, Scope } from "./types.ts";

/**
 * Who may see what, in one rule: a chunk bears labels, a reader's key holds some, and opens what bears one of them.
 *
 * A chunk bears the label of its scope, and, where it was said in a group, that of its author: what people said
 * themselves they find again in private. A key in a group holds that of the group, since others read the answer.
 */
export interface Key {
  has(label: string): boolean;
  readonly labels: readonly string[];
}

/** Opens everything. */
const MASTER: Key = { has: () => true, labels: [] };

const EVERYONE = "everyone";
const PERSON = "person:";
const CHAT = "chat:";
/** Borne by what was said in any group. */
const ANY_CHAT = "any-chat";

export interface Guarded {
  readonly scope: Scope;
  readonly author?: Author;
}

export function labelsOf({ scope, author }: Guarded): string[] {
  if (scope.kind !== "chat") return [labelOf(scope)];
  return [labelOf(scope), ANY_CHAT, ...(author === undefined ? [] : [`${PERSON}${author.id}`])];
}

export function keyOf(reader: Reader | "all"): Key {
  if (reader === "all") return MASTER;
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
  return fits(key, labelsOf(guarded));
}

/** Whether a key opens what bears these labels. */
export function fits(key: Key, labels: readonly string[]): boolean {
  return labels.some((label) => key.has(label));
}

/** What guards a row of the index. */
export function guardOf(row: { readonly scope: string; readonly authorId: string | null }): Guarded {
  return { scope: scopeOf(row.scope), ...(row.authorId === null ? {} : { author: { id: row.authorId } }) };
}

/** A scope in one word. */
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

/** The scope that a label says. One that nobody can read is nobody's. */
export function scopeOf(label: string): Scope {
  if (label === EVERYONE) return { kind: "everyone" };
  if (label.startsWith(CHAT)) return { kind: "chat", chat: label.slice(CHAT.length) };
  return { kind: "person", person: label.slice(PERSON.length) };
}
