import type { Database } from "./database.ts";
import type { Entries } from "./entries.ts";
import { decode } from "./json.ts";
import type { EntryRecord } from "./records.ts";
import type { Bodies, RunId } from "./types/common.ts";
import type { SessionMessage } from "./types/sessions.ts";

/** Where a session's chain of messages ends. */
export interface Head {
  readonly last_entry: number | null;
  readonly last_seq: number;
  /** Messages that the present history has. */
  readonly message_count: number;
}

/** What an appended message belongs to. */
interface Place {
  readonly sessionKey: string;
  readonly generation: number;
  readonly run: number | null;
  readonly at: number;
}

/** Where a walk begins: the newest entry and its session. */
type Start = [number | null, string];

/** A message as its row, with the id of its run for people. */
type Linked = EntryRecord & { run_id: RunId | null };

/** The chains of messages: each entry points to the one before it, so that appending touches the table's end only. */
export interface MessageChain<T extends Bodies> {
  /** Appends encoded bodies and gives the new head. */
  append(head: Head, to: Place, bodies: readonly string[]): Head;
  /** Appends a summary; it has its place in the chain but is no part of the running history. */
  appendSummary(head: Head, to: Place, body: string): Head & { readonly last_entry: number };
  /** The messages of session `key` after `floor`, oldest first, without summaries; at most the newest `limit`. */
  after(head: Head, key: string, floor: number, limit: number): SessionMessage<T>[];
  /** The newest messages before `before`, newest first, with summaries. */
  back(head: Head, key: string, before: number, limit: number): SessionMessage<T>[];
  /** The messages of one run, whose part of the chain ends at `last`; oldest first. */
  ofRun(last: number | null, key: string, run: number): SessionMessage<T>[];
  one(id: number, key: string): SessionMessage<T> | undefined;
  /** How many messages of the history follow `seq`; `undefined` when `seq` is not one of them. */
  countAfter(head: Head, key: string, floor: number, seq: number): number | undefined;
  /** Removes the whole chain. */
  remove(head: Head, key: string): number;
}

export function createMessageChain<T extends Bodies>(database: Database, entries: Entries): MessageChain<T> {
  // `session_key` is checked at each link: a number may be used again once everything from it on was removed.
  const chain = `WITH RECURSIVE chain AS (
      SELECT * FROM entry WHERE id = ?1 AND session_key = ?2
      UNION ALL
      SELECT e.* FROM chain JOIN entry e ON e.id = chain.prev WHERE e.session_key = chain.session_key AND `;
  const linked = "SELECT chain.*, run.id AS run_id FROM chain LEFT JOIN run ON run.n = chain.run WHERE ";
  const after = database.query<[...Start, number, number], Linked>(
    `${chain} e.seq > ?3) ${linked} kind = 'message' AND seq > ?3 LIMIT ?4`,
  );
  const back = database.query<[...Start, number, number], Linked>(
    `${chain} true) ${linked} seq < ?3 LIMIT ?4`,
  );
  const ofRun = database.query<[...Start, number], Linked>(`${chain} e.run = ?3) ${linked} chain.run = ?3`);
  const one = database.query<Start, Linked>(
    `SELECT entry.*, run.id AS run_id FROM entry LEFT JOIN run ON run.n = entry.run
     WHERE entry.id = ? AND entry.session_key = ?`,
  );
  const seqs = database.query<[...Start, number], { seq: number }>(
    `${chain} e.seq > ?3) SELECT seq FROM chain WHERE kind = 'message' AND seq > ?3`,
  );
  const remove = database.command<Start>(
    `${chain} true) DELETE FROM entry WHERE id IN (SELECT id FROM chain)`,
  );

  function toMessage(row: Linked): SessionMessage<T> {
    return {
      seq: row.seq ?? 0,
      generation: row.generation ?? 0,
      message: decode<T["message"]>(row.body),
      ...(row.run_id === null ? {} : { runId: row.run_id }),
      at: row.at,
      compaction: row.kind === "summary",
    };
  }

  return {
    append(head, to, bodies) {
      let { last_entry, last_seq } = head;
      for (const body of bodies) {
        last_seq += 1;
        last_entry = entries.add("message", body, { ...to, seq: last_seq, prev: last_entry });
      }
      return { last_entry, last_seq, message_count: head.message_count + bodies.length };
    },
    appendSummary(head, to, body) {
      const last_seq = head.last_seq + 1;
      const last_entry = entries.add("summary", body, { ...to, seq: last_seq, prev: head.last_entry });
      return { last_entry, last_seq, message_count: head.message_count };
    },
    after: (head, key, floor, limit) =>
      after.all(head.last_entry, key, floor, limit).map(toMessage).reverse(),
    back: (head, key, before, limit) => back.all(head.last_entry, key, before, limit).map(toMessage),
    ofRun: (last, key, run) => ofRun.all(last, key, run).map(toMessage).reverse(),
    one(id, key) {
      const row = one.get(id, key);
      return row === undefined ? undefined : toMessage(row);
    },
    countAfter(head, key, floor, seq) {
      const place = seqs.all(head.last_entry, key, floor).findIndex((row) => row.seq === seq);
      return place === -1 ? undefined : place;
    },
    remove: (head, key) => remove.run(head.last_entry, key),
  };
}
