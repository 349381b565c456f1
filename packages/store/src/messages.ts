import type { Database } from "./database.ts";
import { decode } from "./json.ts";
import type { MessageRecord } from "./records.ts";
import type { Bodies, RunId } from "./types/common.ts";
import type { SessionMessage } from "./types/sessions.ts";

/** Where a session's chain of messages ends. */
export interface Head {
  readonly last_message: number | null;
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

/** Where a walk begins: the newest message and its session. */
type Start = [number | null, string];

/** A message as its row, with the id of its run for people. */
type Linked = MessageRecord & { run_id: RunId | null };

/** The chains of messages: each row points to the one before it, so that appending touches the table's end only. */
export interface MessageChain<T extends Bodies> {
  /** Appends encoded bodies and gives the new head. */
  append(head: Head, to: Place, bodies: readonly string[]): Head;
  /** Appends a summary; it has its place in the chain but is no part of the running history. */
  appendSummary(head: Head, to: Place, body: string): Head;
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

export function createMessageChain<T extends Bodies>(database: Database): MessageChain<T> {
  const next = database.query<[], { id: number }>("SELECT coalesce(max(id), 0) + 1 AS id FROM message");
  const insert = database.command<
    [number, string, number, number | null, number, number | null, number, number, string]
  >(
    `INSERT INTO message (id, session_key, seq, prev, generation, run, compaction, at, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  // `session_key` is checked at each link: a number may be used again once everything from it on was removed.
  const chain = `WITH RECURSIVE chain AS (
      SELECT * FROM message WHERE id = ?1 AND session_key = ?2
      UNION ALL
      SELECT m.* FROM chain JOIN message m ON m.id = chain.prev WHERE m.session_key = chain.session_key AND `;
  const linked = "SELECT chain.*, run.id AS run_id FROM chain LEFT JOIN run ON run.n = chain.run WHERE ";
  const after = database.query<[...Start, number, number], Linked>(
    `${chain} m.seq > ?3) ${linked} compaction = 0 AND seq > ?3 LIMIT ?4`,
  );
  const back = database.query<[...Start, number, number], Linked>(
    `${chain} true) ${linked} seq < ?3 LIMIT ?4`,
  );
  const ofRun = database.query<[...Start, number], Linked>(`${chain} m.run = ?3) ${linked} chain.run = ?3`);
  const one = database.query<Start, Linked>(
    `SELECT message.*, run.id AS run_id FROM message LEFT JOIN run ON run.n = message.run
     WHERE message.id = ? AND message.session_key = ?`,
  );
  const seqs = database.query<[...Start, number], { seq: number }>(
    `${chain} m.seq > ?3) SELECT seq FROM chain WHERE compaction = 0 AND seq > ?3`,
  );
  const remove = database.command<Start>(
    `${chain} true) DELETE FROM message WHERE id IN (SELECT id FROM chain)`,
  );

  function toMessage(row: Linked): SessionMessage<T> {
    return {
      seq: row.seq,
      generation: row.generation,
      message: decode<T["message"]>(row.body),
      ...(row.run_id === null ? {} : { runId: row.run_id }),
      at: row.at,
      compaction: row.compaction === 1,
    };
  }

  return {
    append(head, { sessionKey, generation, run, at }, bodies) {
      if (bodies.length === 0) return head;
      let { last_message, last_seq } = head;
      let id = next.get()?.id ?? 1;
      for (const body of bodies) {
        last_seq += 1;
        insert.run(id, sessionKey, last_seq, last_message, generation, run, 0, at, body);
        last_message = id;
        id += 1;
      }
      return { last_message, last_seq, message_count: head.message_count + bodies.length };
    },
    appendSummary(head, { sessionKey, generation, run, at }, body) {
      const id = next.get()?.id ?? 1;
      insert.run(id, sessionKey, head.last_seq + 1, head.last_message, generation, run, 1, at, body);
      return { last_message: id, last_seq: head.last_seq + 1, message_count: head.message_count };
    },
    after: (head, key, floor, limit) =>
      after.all(head.last_message, key, floor, limit).map(toMessage).reverse(),
    back: (head, key, before, limit) => back.all(head.last_message, key, before, limit).map(toMessage),
    ofRun: (last, key, run) => ofRun.all(last, key, run).map(toMessage).reverse(),
    one(id, key) {
      const row = one.get(id, key);
      return row === undefined ? undefined : toMessage(row);
    },
    countAfter(head, key, floor, seq) {
      const place = seqs.all(head.last_message, key, floor).findIndex((row) => row.seq === seq);
      return place === -1 ? undefined : place;
    },
    remove: (head, key) => remove.run(head.last_message, key),
  };
}
