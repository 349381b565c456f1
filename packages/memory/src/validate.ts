import type { Author, NewNote, NewTurn, Scope, Turn } from "./types.ts";

const SCOPE_FORMS = '{ kind: "everyone" }, { kind: "person", person } or { kind: "chat", chat }';

/**
 * Validates a turn and fills in its defaults.
 *
 * @param turn typed, but callers in JavaScript and parsed data may pass anything
 * @throws TypeError that names the field
 */
export function toTurn(turn: NewTurn, now: number, newId: () => string): Turn {
  if (typeof turn !== "object" || turn === null) throw new TypeError("A turn must be an object.");
  const { text, id = newId(), author, at = now, chat = "", scope = { kind: "everyone" }, untrusted } = turn;
  const time = new Date(at).getTime();
  if (Number.isNaN(time)) throw new TypeError(`The time of a turn is not a date: ${shown(at)}.`);
  const complete: Turn = {
    id,
    text,
    at: time,
    chat,
    scope,
    author: toOptionalAuthor(author),
    untrusted,
  };
  const problem = problemOfTurn(complete);
  if (problem !== undefined) throw new TypeError(`A turn is not valid: ${problem}`);
  return complete;
}

/** A string is the author's id and name. */
export function toOptionalAuthor(author: string | Author | undefined): Author | undefined {
  return typeof author === "string" ? { id: author, name: author } : author;
}

/** Returns true if a value, for example a parsed line of a file, is a complete turn. */
export function isTurn(value: unknown): value is Turn {
  return problemOfTurn(value) === undefined;
}

/** @returns the problem of a turn as a sentence, or `undefined` if it is valid */
export function problemOfTurn(value: unknown): string | undefined {
  if (!isRecord(value)) return "it is not an object.";
  const { id, text, at, chat, ...origin } = value;
  if (typeof text !== "string") return `\`text\` must be a string, not ${shown(text)}.`;
  if (typeof id !== "string" || id === "") return `\`id\` must be a string, not ${shown(id)}.`;
  if (typeof at !== "number" || Number.isNaN(new Date(at).getTime()))
    return `\`at\` must be a time in milliseconds, not ${shown(at)}.`;
  if (typeof chat !== "string") return `\`chat\` must be a string, not ${shown(chat)}.`;
  return problemOfOrigin(origin);
}

/** @throws TypeError that names the field */
export function assertNote({ text, kind, ...origin }: NewNote): void {
  const problem =
    typeof text !== "string"
      ? `\`text\` must be a string, not ${shown(text)}.`
      : kind !== undefined && kind !== "lasting" && kind !== "daily"
        ? `\`kind\` must be "lasting" or "daily", not ${shown(kind)}.`
        : problemOfOrigin({ ...origin, author: toOptionalAuthor(origin.author) });
  if (problem !== undefined) throw new TypeError(`A note is not valid: ${problem}`);
}

interface Origin {
  readonly scope?: unknown;
  readonly author?: unknown;
  readonly chat?: unknown;
  readonly message?: unknown;
  readonly untrusted?: unknown;
}

/** Validates the fields that turns and notes share. */
function problemOfOrigin({ scope, author, ...texts }: Origin): string | undefined {
  if (!isScope(scope)) return `\`scope\` must be ${SCOPE_FORMS}, not ${shown(scope)}.`;
  if (author !== undefined && !isAuthor(author))
    return `\`author\` must be a string or { id, name }, not ${shown(author)}.`;
  for (const name of ["chat", "message", "untrusted"] as const) {
    if (!isOptionalString(texts[name])) return `\`${name}\` must be a string, not ${shown(texts[name])}.`;
  }
  return undefined;
}

function isScope(value: unknown): value is Scope {
  if (!isRecord(value)) return false;
  switch (value["kind"]) {
    case "everyone":
      return true;
    case "person":
      return typeof value["person"] === "string";
    case "chat":
      return typeof value["chat"] === "string";
    default:
      return false;
  }
}

/** @throws TypeError */
export function assertScope(scope: Scope): void {
  if (!isScope(scope)) throw new TypeError(`A scope must be ${SCOPE_FORMS}, not ${shown(scope)}.`);
}

export function isAuthor(value: unknown): value is Author {
  return isRecord(value) && typeof value["id"] === "string" && isOptionalString(value["name"]);
}

export function isOptionalString(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 100);
}
