import { eq } from "drizzle-orm";
import type { Bound, Database } from "./database.ts";
import type { Entries } from "./entries.ts";
import { idOf } from "./ids.ts";
import { decode, decodeIntact } from "./json.ts";
import { type EntryRecord, messageContext, toldHistory } from "./schema/index.ts";
import type { Bodies, RunId } from "./types/common.ts";
import type { SessionMessage } from "./types/sessions.ts";

/** The newest link of a session's message chain. */
export interface Head {
  readonly lastEntry: number | null;
  readonly lastSeq: number;
  /** Number of messages in the current history. */
  readonly messageCount: number;
}

/** Columns that all messages of one append share. */
export interface Place {
  readonly sessionKey: string;
  readonly generation: number;
  readonly run: number | null;
  readonly at: number;
}

/** The start of a walk: an entry and its session. */
interface Start {
  readonly head: number | null;
  readonly key: string;
}

/** A range of messages. Both bounds are exclusive. */
interface Stretch {
  readonly after: number;
  readonly before: number;
  readonly limit: number;
}

interface Linked {
  readonly id: number;
  readonly seq: number;
  readonly generation: number;
  readonly kind: EntryRecord["kind"];
  readonly body: string;
  readonly at: number;
  readonly run: number | null;
  readonly runStartedAt: number | null;
  readonly runNonce: number | null;
}

/** Message chains. Each entry points to the previous one, so that an append only writes to the end of the table. */
export interface MessageChain<T extends Bodies> {
  /** Appends encoded bodies and returns the new head. */
  append(head: Head, to: Place, bodies: readonly string[]): Head;
  /** Appends a summary. The summary belongs to the chain, but not to the current history. */
  appendSummary(head: Head, to: Place, body: string): Head & { readonly lastEntry: number };
  /**
   * Returns the newest messages of session `key` after `floor`, at most `limit`, oldest first. Summaries are omitted.
   */
  after(head: Head, key: string, floor: number, limit: number): SessionMessage<T>[];
  /** Returns the newest messages of a range, newest first, including summaries. */
  back(head: Head, key: string, stretch: Stretch): SessionMessage<T>[];
  /** Returns the undamaged messages of a run whose section of the chain ends at `last`, oldest first. */
  ofRun(last: number | null, key: string, run: number): SessionMessage<T>[];
  one(id: number, key: string): SessionMessage<T> | undefined;
  /** Returns the number of messages in the history after `seq`, or undefined if `seq` is not in the history. */
  countAfter(head: Head, key: string, floor: number, seq: number): number | undefined;
  /** Removes the whole chain and the contexts of its messages. */
  remove(head: Head, key: string): number;
}

/**
 * Walks the chain backwards from `@head` while the condition holds. This is raw SQL because Drizzle has no recursive
 * queries. Each link must belong to the session and have a lower number: SQLite may reuse the row numbers at the end of
 * the table after all rows there were deleted.
 */
const chainWhile = (goesOn: string) => `WITH RECURSIVE chain AS (
  SELECT * FROM entry WHERE id = @head AND session_key = @key
  UNION ALL
  SELECT e.* FROM chain JOIN entry e ON e.id = chain.prev
  WHERE e.session_key = chain.session_key AND e.seq < chain.seq AND ${goesOn})`;

/** Selects entries from `source` with the columns that form the id of their run. */
const linked = (source: string) => `SELECT m.id, m.seq, m.generation, m.kind, m.body, m.at, m.run,
    run.started_at AS runStartedAt, run.nonce AS runNonce FROM ${source} AS m LEFT JOIN run ON run.n = m.run WHERE`;

function toMessage<T extends Bodies>(row: Linked): SessionMessage<T> {
  return withBody<T>(row, decode<T["message"]>(row.body, "entry", row.id));
}

function withBody<T extends Bodies>(row: Linked, message: T["message"]): SessionMessage<T> {
  const { run, runStartedAt, runNonce } = row;
  return {
    seq: row.seq,
    generation: row.generation,
    message,
    ...(run === null || runStartedAt === null || runNonce === null
      ? {}
      : { runId: idOf<RunId>(runStartedAt, runNonce, run) }),
    at: row.at,
    compaction: row.kind === "summary",
  };
}

function prepareStatements(database: Database) {
  return {
    after: database.handWritten<Start & { floor: number; limit: number }, Linked>(
      `${chainWhile("e.seq > @floor")} ${linked("chain")} m.kind = 'message' AND m.seq > @floor LIMIT +@limit`,
    ),
    back: database.handWritten<Start & Stretch, Linked>(
      `${chainWhile("e.seq > @after")} ${linked("chain")} m.seq < @before AND m.seq > @after LIMIT +@limit`,
    ),
    ofRun: database.handWritten<Start & { run: number }, Linked>(
      `${chainWhile("e.run = @run")} ${linked("chain")} m.run = @run`,
    ),
    byId: database.handWritten<Start, Linked>(`${linked("entry")} m.id = @head AND m.session_key = @key`),
    seqs: database.handWritten<Start & { floor: number }, { seq: number }>(
      `${chainWhile("e.seq > @floor")} SELECT seq FROM chain WHERE kind = 'message' AND seq > @floor`,
    ),
    remove: database.handWritten<Start>(
      `${chainWhile("true")} DELETE FROM entry WHERE id IN (SELECT id FROM chain)`,
    ),
    removeContexts: database.command((p: Bound<{ key: string }>) =>
      database.db.delete(messageContext).where(eq(messageContext.sessionKey, p("key"))),
    ),
    removeTold: database.command((p: Bound<{ key: string }>) =>
      database.db.delete(toldHistory).where(eq(toldHistory.sessionKey, p("key"))),
    ),
  };
}

export function createMessageChain<T extends Bodies>(database: Database, entries: Entries): MessageChain<T> {
  const statements = prepareStatements(database);
  return {
    append(head, to, bodies) {
      let { lastEntry, lastSeq } = head;
      for (const body of bodies) {
        lastSeq += 1;
        lastEntry = entries.add("message", body, { ...to, seq: lastSeq, prev: lastEntry });
      }
      return { lastEntry, lastSeq, messageCount: head.messageCount + bodies.length };
    },
    appendSummary(head, to, body) {
      const lastSeq = head.lastSeq + 1;
      const lastEntry = entries.add("summary", body, { ...to, seq: lastSeq, prev: head.lastEntry });
      return { lastEntry, lastSeq, messageCount: head.messageCount };
    },
    after: (head, key, floor, limit) =>
      statements.after
        .all({ head: head.lastEntry, key, floor, limit })
        .map(toMessage<T>)
        .reverse(),
    back: (head, key, stretch) =>
      statements.back.all({ head: head.lastEntry, key, ...stretch }).map(toMessage<T>),
    ofRun: (last, key, run) =>
      statements.ofRun
        .all({ head: last, key, run })
        .flatMap((row) => {
          const message = decodeIntact<T["message"]>(row.body);
          return message === undefined ? [] : [withBody<T>(row, message)];
        })
        .reverse(),
    one(id, key) {
      const row = statements.byId.get({ head: id, key });
      return row === undefined ? undefined : toMessage(row);
    },
    countAfter(head, key, floor, seq) {
      const place = statements.seqs
        .all({ head: head.lastEntry, key, floor })
        .findIndex((row) => row.seq === seq);
      return place === -1 ? undefined : place;
    },
    remove(head, key) {
      statements.removeContexts.run({ key });
      statements.removeTold.run({ key });
      return statements.remove.run({ head: head.lastEntry, key }).changes;
    },
  };
}
