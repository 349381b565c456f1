import type { Context } from "./context.ts";
import { decodeIntact } from "./json.ts";
import type { EraseRequest } from "./types/maintenance.ts";

/** Replaces erased text. */
const ERASED = "[forgotten]";

/**
 * Minimum length for replacing text inside other text. Shorter text is replaced only as a whole message, because it may
 * occur in unrelated text. A Chinese character counts as three.
 */
const MIN_LENGTH = 10;
/** Number of rows to examine in one transaction. */
const ROWS_AT_ONCE = 1_000;

type Row = Readonly<Record<string, string | number>>;

/** A column with text. */
interface TextColumn {
  readonly table: string;
  readonly column: string;
  /** The primary key. Tables with a single numeric key are examined in ranges. */
  readonly key: readonly [string, ...string[]];
  /** The condition that selects the rows of the sessions. */
  readonly condition: string;
}

const SESSIONS = "(SELECT value FROM json_each(@sessions))";
const COLUMNS: readonly TextColumn[] = [
  {
    table: "entry",
    column: "body",
    key: ["id"],
    condition: `(session_key IN ${SESSIONS} OR id IN (SELECT entry FROM inbox WHERE session_key IN ${SESSIONS}))`,
  },
  {
    table: "tool_call",
    column: "args",
    key: ["run", "n"],
    condition: `run IN (SELECT n FROM run WHERE session_key IN ${SESSIONS})`,
  },
  { table: "approval", column: "question", key: ["n"], condition: `session_key IN ${SESSIONS}` },
  {
    table: "message_context",
    column: "text",
    key: ["session_key", "seq"],
    condition: `session_key IN ${SESSIONS}`,
  },
  {
    table: "message_context",
    column: "recalled",
    key: ["session_key", "seq"],
    condition: `session_key IN ${SESSIONS}`,
  },
  {
    table: "told_history",
    column: "body",
    key: ["session_key", "seq", "place"],
    condition: `session_key IN ${SESSIONS}`,
  },
  // Traces belong to messages, not to sessions. Only owners can read them.
  { table: "trace", column: "entries", key: ["n"], condition: "true" },
];
const NUMBERED: ReadonlySet<string> = new Set(["id", "n"]);

/**
 * Creates a function that replaces texts in all data of the given sessions and overwrites them in the file.
 *
 * @param cleanFile removes old content from unused parts of the file and from its log
 */
export function createEraser(
  { database, queue }: Context,
  cleanFile: () => Promise<void>,
): (request: EraseRequest) => Promise<number> {
  const { raw } = database;

  async function eraseColumn(
    { table, column, key, condition }: TextColumn,
    sessions: string,
    texts: readonly string[],
  ): Promise<number> {
    const forms = JSON.stringify(texts.flatMap(getForms));
    const found = `FROM ${table} WHERE ${condition}
      AND EXISTS (SELECT 1 FROM json_each(@forms) WHERE instr(${column}, value) > 0)`;
    const isKey = key.map((name) => `${name} = @${name}`).join(" AND ");
    const update = database.handWritten<Row & { readonly text: string }>(
      `UPDATE ${table} SET ${column} = @text WHERE ${isKey}`,
    );
    const eraseRows = (rows: readonly Row[]): number => {
      for (const row of rows) update.run({ ...row, text: eraseTexts(String(row["erased"]), texts) });
      return rows.length;
    };
    const selected = `SELECT ${key.join(", ")}, ${column} AS erased ${found}`;
    const [number] = key;
    if (key.length > 1 || !NUMBERED.has(number)) {
      const find = database.handWritten<{ sessions: string; forms: string }, Row>(selected);
      return queue.write(() => eraseRows(find.all({ sessions, forms })));
    }
    const find = database.handWritten<{ sessions: string; forms: string; from: number; to: number }, Row>(
      `${selected} AND ${number} > @from AND ${number} <= @to`,
    );
    const last = database.handWritten<object, { n: number | null }>(
      `SELECT max(${number}) AS n FROM ${table}`,
    );
    const end = (await queue.read(() => last.all()))[0]?.n ?? 0;
    let erased = 0;
    for (let from = 0; from < end; from += ROWS_AT_ONCE)
      erased += await queue.write(() =>
        eraseRows(find.all({ sessions, forms, from, to: from + ROWS_AT_ONCE })),
      );
    return erased;
  }

  function eraseMessages(messages: EraseRequest["messages"]): number {
    const find = database.handWritten<{ sessionKey: string; seq: number }, { id: number; body: string }>(
      "SELECT id, body FROM entry WHERE kind = 'message' AND session_key = @sessionKey AND seq = @seq",
    );
    const update = database.handWritten<{ id: number; body: string }>(
      "UPDATE entry SET body = @body WHERE id = @id",
    );
    let erased = 0;
    for (const { sessionKey, seq } of messages)
      for (const { id, body } of find.all({ sessionKey, seq })) {
        update.run({ id, body: eraseContent(body) });
        erased += 1;
      }
    return erased;
  }

  /** A title may be the first words of a message. */
  function eraseTitles(sessions: string, texts: readonly string[]): number {
    const find = database.handWritten<{ sessions: string }, { key: string; title: string }>(
      `SELECT key, title FROM session WHERE key IN ${SESSIONS} AND title IS NOT NULL`,
    );
    const update = database.handWritten<{ key: string; title: string }>(
      "UPDATE session SET title = @title WHERE key = @key",
    );
    let erased = 0;
    for (const { key, title: former } of find.all({ sessions })) {
      const beginning = former.replace(/…$/, "").trim();
      const isBeginning = beginning.length > 3 && texts.some((text) => text.startsWith(beginning));
      const title = isBeginning ? ERASED : eraseInString(former, texts);
      if (title === former) continue;
      update.run({ key, title });
      erased += 1;
    }
    return erased;
  }

  return async ({ sessions, messages, texts }) => {
    const parts = [...new Set(texts.flatMap(getParts))];
    // Otherwise SQLite would leave the old text in unused space on its page.
    raw.pragma("secure_delete = ON");
    try {
      let erased = await queue.write(() => eraseMessages(messages));
      const keys = JSON.stringify(sessions);
      if (parts.length > 0) {
        for (const column of COLUMNS) erased += await eraseColumn(column, keys, parts);
        erased += await queue.write(() => eraseTitles(keys, parts));
      }
      await cleanFile();
      return erased;
    } finally {
      raw.pragma("secure_delete = OFF");
    }
  };
}

/**
 * Returns the fragments of a text to replace wherever they occur: its lines without list markers, or the sentences of
 * long lines, because search results abbreviate them. Searching for longer fragments can take quadratic time.
 */
function getParts(text: string): string[] {
  const lines = text.split("\n").map((line) => line.replace(/^\s*(?:[-*>#]+|\d+[.)])\s+/, "").trim());
  return lines
    .flatMap((line) => (line.length > 200 ? line.split(/(?<=[.!?;。！？；])\s*/) : [line]))
    .flatMap((part) => part.match(/.{1,300}/gs) ?? [])
    .filter((part) => part.length + 2 * (part.match(/\p{Script=Han}/gu)?.length ?? 0) >= MIN_LENGTH);
}

/** Returns the text as plain text, as a JSON string, and as JSON inside a JSON string. */
function getForms(text: string): string[] {
  const once = escapeJson(text);
  return [...new Set([text, once, escapeJson(once)])];
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Replaces texts in all strings of a JSON value, or in a string that is not JSON. */
function eraseTexts(stored: string, texts: readonly string[]): string {
  const value = decodeIntact<unknown>(stored);
  return value === undefined || typeof value !== "object"
    ? eraseInString(stored, texts)
    : JSON.stringify(mapStrings(value, (text) => eraseInString(text, texts)));
}

function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapStrings(item, map)]));
}

function eraseInString(text: string, texts: readonly string[]): string {
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
function eraseContent(body: string): string {
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
