import { hash } from "node:crypto";
import { asc, eq, gt, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound, Database } from "./database.ts";
import type { InboxRows } from "./inbox-rows.ts";
import { dedupe, dedupeMark, type InboxRecord, inbox } from "./schema/index.ts";
import type { Bodies } from "./types/common.ts";
import type { PlatformMessage } from "./types/inbox.ts";

const dayMs = 86_400_000;
/** Messages after which the recent keys are moved into the index. */
const mergeAfter = 8192;
/** Keys moved in one transaction. */
const mergeChunk = 1000;

/** One of the two names of a message, as a number of 53 bits. */
export interface DedupeKey {
  readonly number: number;
  readonly kind: "event" | "message";
  readonly channel: string;
  readonly account: string;
  readonly id: string;
}

interface DedupeKeys {
  readonly event: DedupeKey;
  readonly message: DedupeKey | undefined;
}

/** The first delivery: its row, or only the memory that there was one. */
type Seen = { readonly row: InboxRecord } | "pruned";

export interface DedupeIndex {
  /** Inside a transaction, or on the committed state. */
  find(key: DedupeKey): Seen | undefined;
  /** Inside the transaction that inserts row `seq`. */
  add(keys: DedupeKeys, seq: number): void;
  /** Moves the recent keys into the index. */
  merge(): Promise<void>;
}

export function dedupeKey(kind: DedupeKey["kind"], channel: string, account: string, id: string): DedupeKey {
  const digest = hash("sha256", `${kind}\0${channel}\0${account}\0${id}`, "hex");
  const number = parseInt(digest.slice(0, 12), 16) * 32 + (parseInt(digest.slice(12, 14), 16) & 31);
  return { number, kind, channel, account, id };
}

/** The message with this platform id, if it is still stored. */
export function messageRow(
  dedupe: DedupeIndex,
  { channel, account, messageId }: PlatformMessage,
): InboxRecord | undefined {
  const seen = dedupe.find(dedupeKey("message", channel, account, messageId));
  return seen === undefined || seen === "pruned" ? undefined : seen.row;
}

function prepareStatements(database: Database) {
  const { db } = database;
  return {
    mark: database.query(() => db.select().from(dedupeMark)),
    setMark: database.command((p: Bound<{ seq: number }>) =>
      db
        .insert(dedupeMark)
        .values({ one: 1, seq: p("seq") })
        .onConflictDoUpdate({
          target: dedupeMark.one,
          set: { seq: sql`max(${dedupeMark.seq}, excluded.seq)` },
        }),
    ),
    indexed: database.query((p: Bound<{ key: number }>) =>
      db
        .select()
        .from(dedupe)
        .where(eq(dedupe.key, p("key"))),
    ),
    put: database.replace(dedupe, [dedupe.key]),
    after: database.query((p: Bound<{ seq: number }>) =>
      db
        .select({
          seq: inbox.seq,
          eventKey: inbox.eventKey,
          messageKey: inbox.messageKey,
          receivedAt: inbox.receivedAt,
        })
        .from(inbox)
        .where(gt(inbox.seq, p("seq")))
        .orderBy(asc(inbox.seq)),
    ),
  };
}

/**
 * Platform ids come in no order, and an index over them dirties two pages with each message: more than all its other
 * rows together. So the keys of recent messages stand in their inbox rows, which are appended, and some thousands at a
 * time are moved into the index in the order of their keys.
 *
 * What is recent is found through a map in memory, which is a copy and nothing to rely on: each transaction first adds
 * the rows that came since the last (another process may have written them), and a hit counts only once the row itself
 * confirms it, so that a call that was undone leaves nothing behind.
 */
export function createDedupeIndex(context: Context, rows: InboxRows<Bodies>): DedupeIndex {
  const { database, queue } = context;
  const statements = prepareStatements(database);
  const recent = new Map<number, number>();
  let loadedIn = -1;
  let loadedTo: number | undefined;
  let merging = false;

  const marked = (): number => statements.mark.get()?.seq ?? 0;

  /** Once in a batch, before any row is inserted in it: what is read is committed. */
  function load(): void {
    if (loadedIn === queue.batch) return;
    loadedIn = queue.batch;
    let last = loadedTo ?? marked();
    for (const { seq, eventKey, messageKey } of statements.after.all({ seq: last })) {
      recent.set(eventKey, seq);
      if (messageKey !== null) recent.set(messageKey, seq);
      last = seq;
    }
    loadedTo = last;
  }

  async function merge(): Promise<void> {
    const from = await queue.read(() => {
      load();
      return marked();
    });
    const to = loadedTo ?? from;
    const keys = statements.after
      .all({ seq: from })
      .filter(({ seq }) => seq <= to)
      .flatMap(indexed)
      .sort((a, b) => a.key - b.key);
    for (let start = 0; start < keys.length; start += mergeChunk) {
      await queue.write(() => {
        for (const key of keys.slice(start, start + mergeChunk)) statements.put.run(key);
      });
    }
    await queue.write(() => statements.setMark.run({ seq: to }));
    for (const [key, seq] of recent) if (seq <= to) recent.delete(key);
  }

  return {
    find(key) {
      load();
      const recentSeq = recent.get(key.number);
      const recentRow = recentSeq === undefined ? undefined : confirm(rows, key, recentSeq);
      if (recentRow !== undefined) return { row: recentRow };
      const seq = statements.indexed.get({ key: key.number })?.seq;
      if (seq === undefined) return undefined;
      if (rows.record(seq) === undefined) return "pruned";
      const row = confirm(rows, key, seq);
      return row === undefined ? undefined : { row };
    },
    add({ event, message }, seq) {
      recent.set(event.number, seq);
      if (message !== undefined) recent.set(message.number, seq);
      if (merging || recent.size < 2 * mergeAfter) return;
      merging = true;
      // One that fails is tried again with a later message; until then the keys stay where they are.
      merge()
        .catch(() => {})
        .finally(() => {
          merging = false;
        });
    },
    merge,
  };
}

/** The row, if it is of the message that the key names and not of one whose key happens to be the same. */
function confirm(rows: InboxRows<Bodies>, key: DedupeKey, seq: number): InboxRecord | undefined {
  const row = rows.record(seq);
  if (row === undefined || (row.eventKey !== key.number && row.messageKey !== key.number)) return undefined;
  const event = rows.event(row);
  // Where its content is damaged the key has to do.
  if (event === undefined) return row;
  const id = key.kind === "event" ? event.eventId : event.messageId;
  return event.channel === key.channel && event.account === key.account && id === key.id ? row : undefined;
}

/** What the index has of a message. */
function indexed({
  seq,
  eventKey,
  messageKey,
  receivedAt,
}: Pick<InboxRecord, "seq" | "eventKey" | "messageKey" | "receivedAt">) {
  const day = Math.floor(receivedAt / dayMs);
  const ofEvent = { key: eventKey, seq, day };
  return messageKey === null ? [ofEvent] : [ofEvent, { key: messageKey, seq, day }];
}
