import type { Context } from "./context.ts";
import {
  ERASED,
  eraseContent,
  eraseInStored,
  eraseInString,
  getForms,
  getParts,
  type TextForm,
} from "./erase-text.ts";
import { inboxIdOf } from "./inbox-rows.ts";
import type { InboxRecord } from "./schema/index.ts";
import type { EraseRequest } from "./types/maintenance.ts";

/** Number of rows to examine between two turns of the event loop. */
const ROWS_AT_ONCE = 500;
/** Maximum number of rows to change in one transaction. */
const MAX_CHANGES = 50;

/** Values of the primary key. */
type Key = Readonly<Record<string, string | number>>;
type Params = Readonly<Record<string, string | number>>;

/** A column with text. */
interface TextColumn {
  readonly table: string;
  readonly column: string;
  readonly key: readonly [string, ...string[]];
  /**
   * Selects the rows of the sessions. Uses one of the parameters `sessions` and `values`, which are lists as JSON.
   */
  readonly condition: string;
  readonly form: TextForm;
}

/** Rows that are examined in ranges of a number. */
interface Ranges {
  readonly table: string;
  readonly range: string;
  /** Size of a range. */
  readonly step: number;
  /** A WHERE clause for the first and the last number, if an index does not begin with the number. */
  readonly limits: string;
}

interface RangedColumn extends TextColumn, Ranges {}

const SESSIONS = "(SELECT value FROM json_each(@sessions))";
const OF_SESSIONS = `WHERE session_key IN ${SESSIONS}`;
const VALUES = "(SELECT value FROM json_each(@values))";

const RANGED: readonly RangedColumn[] = [
  {
    table: "entry",
    column: "body",
    key: ["id"],
    condition: `session_key IN ${SESSIONS}`,
    form: "json",
    range: "id",
    step: ROWS_AT_ONCE,
    limits: "",
  },
  {
    table: "approval",
    column: "question",
    key: ["n"],
    condition: `session_key IN ${SESSIONS}`,
    form: "json",
    range: "n",
    step: ROWS_AT_ONCE,
    limits: "",
  },
  ...["text", "recalled"].map((column) => ({
    table: "message_context",
    column,
    key: ["session_key", "seq"] as const,
    condition: `session_key IN ${SESSIONS}`,
    form: "plain" as const,
    range: "seq",
    step: ROWS_AT_ONCE,
    limits: OF_SESSIONS,
  })),
  {
    table: "told_history",
    column: "body",
    key: ["session_key", "seq", "place"],
    condition: `session_key IN ${SESSIONS}`,
    form: "json",
    range: "seq",
    // A message has about twenty entries.
    step: ROWS_AT_ONCE / 20,
    limits: OF_SESSIONS,
  },
];
const CALLS: TextColumn = {
  table: "tool_call",
  column: "args",
  key: ["run", "n"],
  condition: `run IN ${VALUES}`,
  form: "args",
};
const EVENTS: TextColumn = {
  table: "entry",
  column: "body",
  key: ["id"],
  condition: `id IN ${VALUES}`,
  form: "json",
};
const TRACES: TextColumn = {
  table: "trace",
  column: "entries",
  key: ["n"],
  condition: `subject IN ${VALUES}`,
  form: "trace",
};

/** Texts to erase, and their forms in stored data as JSON. */
interface Erasure {
  readonly sessions: string;
  readonly texts: readonly string[];
  readonly forms: string;
}

const selectFound = ({ table, column, key, condition }: TextColumn): string =>
  `SELECT ${key.join(", ")} FROM ${table} WHERE ${condition}
    AND EXISTS (SELECT 1 FROM json_each(@forms) WHERE instr(${column}, value) > 0)`;

type EventRow = Pick<InboxRecord, "seq" | "receivedAt" | "nonce" | "entry">;

interface EraserOptions {
  /** Called before each erasure, to write pending data. */
  readonly beforeErase: () => Promise<void>;
  /** Removes old content from unused parts of the file and from its log. */
  readonly cleanFile: () => Promise<void>;
}

/**
 * Creates a function that replaces texts in all data of the given sessions and overwrites them in the file. Concurrent
 * calls erase one after the other.
 */
export function createEraser(
  { database, queue }: Context,
  { beforeErase, cleanFile }: EraserOptions,
): (request: EraseRequest) => Promise<number> {
  const { raw } = database;
  const clean = mergeCalls(cleanFile);
  let previous: Promise<unknown> = Promise.resolve();

  /** Changes rows in short transactions. Returns the number of changed rows. */
  async function change<Row>(rows: readonly Row[], changeRow: (row: Row) => boolean): Promise<number> {
    let changed = 0;
    for (const chunk of chunksOf(rows, MAX_CHANGES))
      changed += await queue.write(() => chunk.filter(changeRow).length);
    return changed;
  }

  /** Creates a function that reads rows in ranges of a number and yields to the event loop after each range. */
  function rangeReader<Row>({ table, range, step, limits }: Ranges, selected: string) {
    // SQLite uses the index only if a query contains a single aggregate.
    const ends = ["min", "max"].map((end) => `(SELECT ${end}(${range}) FROM ${table} ${limits})`);
    const getEnds = database.handWritten<Params, { first: number | null; last: number | null }>(
      `SELECT ${ends[0]} AS first, ${ends[1]} AS last`,
    );
    const find = database.handWritten<Params, Row>(`${selected} AND ${range} >= @from AND ${range} < @to`);
    return async function* read(
      params: Params & { readonly sessions: string },
    ): AsyncGenerator<readonly Row[]> {
      const row = await queue.read(() => getEnds.get({ sessions: params.sessions }));
      const last = row?.last ?? -1;
      for (let from = row?.first ?? 0; from <= last; from += step) {
        yield await queue.read(() => find.all({ ...params, from, to: from + step }));
        await nextTurn();
      }
    };
  }

  /** Creates a function that erases texts in one row. The row is read again, because it may have changed. */
  function rowEraser({ table, column, key, form }: TextColumn) {
    const isKey = key.map((name) => `${name} = @${name}`).join(" AND ");
    const read = database.handWritten<Key, { former: string }>(
      `SELECT ${column} AS former FROM ${table} WHERE ${isKey}`,
    );
    const update = database.handWritten<Key & { text: string }>(
      `UPDATE ${table} SET ${column} = @text WHERE ${isKey}`,
    );
    return (row: Key, texts: readonly string[]): boolean => {
      const former = read.get(row)?.former;
      if (former === undefined) return false;
      const text = eraseInStored(former, form, texts);
      if (text !== former) update.run({ ...row, text });
      return text !== former;
    };
  }

  function rangedEraser(column: RangedColumn) {
    const eraseRow = rowEraser(column);
    const read = rangeReader<Key>(column, selectFound(column));
    return async ({ sessions, texts, forms }: Erasure): Promise<number> => {
      let erased = 0;
      for await (const rows of read({ sessions, forms }))
        erased += await change(rows, (row) => eraseRow(row, texts));
      return erased;
    };
  }

  /** Creates a function that erases texts in the rows that the condition selects by a list of values. */
  function listedEraser(column: TextColumn) {
    const eraseRow = rowEraser(column);
    const find = database.handWritten<{ forms: string; values: string }, Key>(selectFound(column));
    return async ({ texts, forms }: Erasure, values: readonly (string | number)[]): Promise<number> => {
      const rows = await queue.read(() => find.all({ forms, values: JSON.stringify(values) }));
      return change(rows, (row) => eraseRow(row, texts));
    };
  }

  const rangedErasers = RANGED.map(rangedEraser);
  const eraseCallsOf = listedEraser(CALLS);
  const eraseEventBodies = listedEraser(EVENTS);
  const eraseTracesOf = listedEraser(TRACES);

  const readRuns = rangeReader<{ n: number }>(
    { table: "run", range: "n", step: ROWS_AT_ONCE, limits: "" },
    `SELECT n FROM run WHERE session_key IN ${SESSIONS}`,
  );

  async function eraseCalls(erasure: Erasure): Promise<number> {
    let erased = 0;
    for await (const rows of readRuns({ sessions: erasure.sessions }))
      for (const chunk of chunksOf(rows, MAX_CHANGES)) {
        const runs = chunk.map(({ n }) => n);
        erased += await eraseCallsOf(erasure, runs);
      }
    return erased;
  }

  const findEvents = database.handWritten<{ sessionKey: string; after: number }, EventRow>(
    `SELECT seq, received_at AS receivedAt, nonce, entry FROM inbox
      WHERE session_key = @sessionKey AND seq > @after ORDER BY seq LIMIT ${MAX_CHANGES}`,
  );

  /**
   * Erases texts in the events of the sessions and in their traces. Traces of other sessions do not change, so that a
   * member cannot remove evidence about others.
   */
  async function eraseEvents(erasure: Erasure, sessionKeys: readonly string[]): Promise<number> {
    let erased = 0;
    for (const sessionKey of new Set(sessionKeys)) {
      let after: number | undefined = -1;
      while (after !== undefined) {
        const from: number = after;
        const rows: EventRow[] = await queue.read(() => findEvents.all({ sessionKey, after: from }));
        const entries = rows.map(({ entry }) => entry);
        erased += await eraseEventBodies(erasure, entries);
        erased += await eraseTracesOf(erasure, rows.map(inboxIdOf));
        after = rows.at(-1)?.seq;
        await nextTurn();
      }
    }
    return erased;
  }

  const readMessages = rangeReader<{ id: number }>(
    { table: "entry", range: "id", step: ROWS_AT_ONCE, limits: "" },
    `SELECT id FROM entry WHERE kind = 'message' AND session_key IN ${SESSIONS}
      AND EXISTS (SELECT 1 FROM json_each(@messages)
        WHERE value ->> 'sessionKey' = session_key AND value ->> 'seq' = seq)`,
  );
  const readBody = database.handWritten<{ id: number }, { body: string }>(
    "SELECT body FROM entry WHERE id = @id",
  );
  const setBody = database.handWritten<{ id: number; body: string }>(
    "UPDATE entry SET body = @body WHERE id = @id",
  );

  function eraseMessage({ id }: { id: number }): boolean {
    const row = readBody.get({ id });
    if (row !== undefined) setBody.run({ id, body: eraseContent(row.body) });
    return row !== undefined;
  }

  async function eraseMessages(messages: EraseRequest["messages"]): Promise<number> {
    if (messages.length === 0) return 0;
    const sessions = JSON.stringify(messages.map(({ sessionKey }) => sessionKey));
    let erased = 0;
    for await (const rows of readMessages({ sessions, messages: JSON.stringify(messages) }))
      erased += await change(rows, eraseMessage);
    return erased;
  }

  const findTitles = database.handWritten<{ sessions: string }, { key: string; title: string }>(
    `SELECT key, title FROM session WHERE key IN ${SESSIONS} AND title IS NOT NULL`,
  );
  const setTitle = database.handWritten<{ key: string; title: string }>(
    "UPDATE session SET title = @title WHERE key = @key",
  );

  /** A title may be the first words of a message. */
  function eraseTitles(sessions: string, texts: readonly string[]): number {
    let erased = 0;
    for (const { key, title: former } of findTitles.all({ sessions })) {
      const beginning = former.replace(/…$/, "").trim();
      const isBeginning = beginning.length > 3 && texts.some((text) => text.startsWith(beginning));
      const title = isBeginning ? ERASED : eraseInString(former, texts);
      if (title === former) continue;
      setTitle.run({ key, title });
      erased += 1;
    }
    return erased;
  }

  async function erase({ sessions, messages, texts: whole }: EraseRequest): Promise<number> {
    await beforeErase();
    const texts = [...new Set(whole.flatMap(getParts))];
    // Otherwise SQLite would leave the old text in unused space on its page.
    raw.pragma("secure_delete = ON");
    try {
      let erased = await eraseMessages(messages);
      if (texts.length === 0) return erased;
      const forms = JSON.stringify(texts.flatMap(getForms));
      const erasure = { sessions: JSON.stringify(sessions), texts, forms };
      for (const eraseRanged of rangedErasers) erased += await eraseRanged(erasure);
      erased += await eraseCalls(erasure);
      erased += await eraseEvents(erasure, sessions);
      return erased + (await queue.write(() => eraseTitles(erasure.sessions, texts)));
    } finally {
      raw.pragma("secure_delete = OFF");
    }
  }

  return async (request) => {
    // The setting `secure_delete` belongs to the connection, so erasures do not overlap.
    const own = previous.then(() => erase(request));
    previous = own.catch(() => {});
    const erased = await own;
    await clean();
    return erased;
  };
}

/** Runs one call at a time. Calls during a run share the next run. */
function mergeCalls(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let waiting: Promise<void> | undefined;

  async function run(): Promise<void> {
    try {
      await work();
    } finally {
      running = undefined;
    }
  }

  async function runNext(current: Promise<void>): Promise<void> {
    await current.catch(() => {});
    waiting = undefined;
    running = run();
    return running;
  }

  return () => {
    if (waiting !== undefined) return waiting;
    if (running === undefined) {
      running = run();
      return running;
    }
    waiting = runNext(running);
    return waiting;
  };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function chunksOf<T>(items: readonly T[], size: number): (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
