import { decodeIntact } from "./json.ts";

/** Replaces erased text. */
export const ERASED = "[forgotten]";

/**
 * Minimum length for replacing text inside other text. Shorter text is replaced only as a whole message, because it may
 * occur in unrelated text. A Chinese character counts as three.
 */
const MIN_LENGTH = 10;

/** Fields of stored JSON with text that people, models and tools wrote. All other fields keep their values. */
const TEXT_FIELDS: ReadonlySet<string> = new Set([
  // Messages and their blocks, also the vendor's copy of a block.
  ...["text", "content", "context", "thinking", "summary", "title", "cited_text"],
  // Commands that the host ran, and summaries of errors.
  ...["command", "output", "message", "error", "why"],
  // Instructions of a client, forms, polls, questions, buttons and approvals.
  ...["instructions", "question", "options", "label", "caption", "action", "reason", "detail"],
]);
/** Fields of stored JSON whose entire content people, models and tools wrote. */
const NESTED_FIELDS: ReadonlySet<string> = new Set([
  "args",
  "argsText",
  "arguments",
  "input",
  "details",
  "env",
  "raw",
]);
/** Fields inside of {@link NESTED_FIELDS} that identify something. */
const IDENTIFIER =
  /^(?:ids?|\w+_ids?|\w*[a-z0-9]I[dD]s?|type|role|kind|action|mime_?[tT]ype|media_type|stopReason|channel|account|address|target|tool|toolName)$/;

/** The form of a stored text. `args` is JSON of any structure. `trace` is a list of a trace's entries. */
export type TextForm = "plain" | "json" | "args" | "trace";

/** Replaces texts in a stored value. JSON keeps its structure: only fields with text change. */
export function eraseInStored(stored: string, form: TextForm, texts: readonly string[]): string {
  if (form === "plain") return eraseInString(stored, texts);
  const value = decodeIntact<unknown>(stored);
  if (value === undefined) return eraseInString(stored, texts);
  if (form === "args") return JSON.stringify(eraseInValue(value, texts, "args", true));
  if (form === "json" || !Array.isArray(value))
    return JSON.stringify(eraseInValue(value, texts, "text", false));
  // An entry consists of stage, time and data.
  const entries = value.map((entry: unknown) =>
    Array.isArray(entry)
      ? entry.map((item: unknown, index) => (index < 2 ? item : eraseInValue(item, texts, "text", false)))
      : entry,
  );
  return JSON.stringify(entries);
}

/** @param name the field that contains the value, directly or in a list */
function eraseInValue(value: unknown, texts: readonly string[], name: string, isNested: boolean): unknown {
  if (typeof value === "string") {
    if (isNested ? IDENTIFIER.test(name) : !TEXT_FIELDS.has(name)) return value;
    return name === "argsText" || name === "arguments"
      ? eraseInArguments(value, texts)
      : eraseInString(value, texts);
  }
  if (Array.isArray(value)) return value.map((item) => eraseInValue(item, texts, name, isNested));
  if (typeof value !== "object" || value === null) return value;
  const erased = Object.fromEntries(
    Object.entries(value).map(([field, item]) => [
      field,
      eraseInValue(item, texts, field, isNested || NESTED_FIELDS.has(field)),
    ]),
  );
  return isChangedThinking(value, erased) ? withoutSignature(erased) : erased;
}

/** Replaces texts in arguments as JSON in a string, which may be cut off. */
function eraseInArguments(text: string, texts: readonly string[]): string {
  const args = decodeIntact<unknown>(text);
  if (typeof args !== "object" || args === null) return eraseInString(text, texts);
  const before = JSON.stringify(args);
  const after = JSON.stringify(eraseInValue(args, texts, "args", true));
  return after === before ? text : after;
}

function isChangedThinking(before: object, { type, text }: Record<string, unknown>): boolean {
  return type === "thinking" && "text" in before && before.text !== text;
}

/** Removes the vendor's data of a block if it contains a signature, which is not valid for a changed text. */
function withoutSignature({ native, ...block }: Record<string, unknown>): Record<string, unknown> {
  return JSON.stringify(native)?.includes('"signature":') === true ? block : { ...block, native };
}

/**
 * Returns the fragments of a text to replace wherever they occur: its lines without list markers, or the sentences of
 * long lines, because search results abbreviate them. Searching for longer fragments can take quadratic time.
 */
export function getParts(text: string): string[] {
  const lines = text.split("\n").map((line) => line.replace(/^\s*(?:[-*>#]+|\d+[.)])\s+/, "").trim());
  return lines
    .flatMap((line) => (line.length > 200 ? line.split(/(?<=[.!?;。！？；])\s*/) : [line]))
    .flatMap((part) => part.match(/.{1,300}/gs) ?? [])
    .filter((part) => part.length + 2 * (part.match(/\p{Script=Han}/gu)?.length ?? 0) >= MIN_LENGTH);
}

/** Returns the text as plain text, as a JSON string, and as JSON inside a JSON string. */
export function getForms(text: string): string[] {
  const once = escapeJson(text);
  return [...new Set([text, once, escapeJson(once)])];
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

export function eraseInString(text: string, texts: readonly string[]): string {
  return texts.flatMap(getForms).reduce(replaceUnescaped, text);
}

/**
 * Replaces a text unless the match begins inside an escape sequence, such as the `n` of `\
 * `.
 */
function replaceUnescaped(whole: string, text: string): string {
  let erased = "";
  let from = 0;
  for (let at = whole.indexOf(text); at >= 0; at = whole.indexOf(text, at + 1)) {
    const backslashes = /\\*$/.exec(whole.slice(Math.max(from, at - 8), at))?.[0].length ?? 0;
    if (at < from || backslashes % 2 === 1) continue;
    erased += whole.slice(from, at) + ERASED;
    from = at + text.length;
  }
  return erased + whole.slice(from);
}

/** Replaces a message's text, but not its tool calls. */
export function eraseContent(body: string): string {
  const message = decodeIntact<{ readonly content?: unknown }>(body);
  if (message === undefined || typeof message !== "object" || message === null) return JSON.stringify(ERASED);
  const { content } = message;
  const erased = Array.isArray(content)
    ? content.map((block: unknown) =>
        typeof block === "object" && block !== null && "text" in block ? { ...block, text: ERASED } : block,
      )
    : ERASED;
  return JSON.stringify({ ...message, content: erased });
}
