import { hash } from "node:crypto";
import type { Context } from "./context.ts";
import type { InboxReader } from "./inbox-rows.ts";
import type { InboxRecord } from "./records.ts";
import type { Bodies } from "./types/common.ts";

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

/** The first delivery: its row, or only the memory that there was one. */
export type Seen = { readonly row: InboxRecord } | "pruned";

export interface DedupeIndex {
  /** Inside a transaction, or on the committed state. */
  find(key: DedupeKey): Seen | undefined;
  /** Inside the transaction that inserts row `seq`. */
  add(keys: readonly DedupeKey[], seq: number): void;
  /** Moves the recent keys into the index. */
  merge(): Promise<void>;
}

export function dedupeKey(kind: DedupeKey["kind"], channel: string, account: string, id: string): DedupeKey {
  const digest = hash("sha256", `${kind}\0${channel}\0${account}\0${id}`, "buffer");
  return { number: digest.readUIntBE(0, 6) * 32 + (digest.readUInt8(6) & 31), kind, channel, account, id };
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
export function createDedupeIndex(context: Context, inbox: InboxReader<Bodies>): DedupeIndex {
  const { database, queue } = context;
  const mark = database.query<[], { seq: number }>("SELECT seq FROM dedupe_mark");
  const setMark = database.command<[number]>("UPDATE dedupe_mark SET seq = max(seq, ?)");
  const indexed = database.query<[number], { seq: number }>("SELECT seq FROM dedupe WHERE key = ?");
  const put = database.command<[number, number, number]>(
    "INSERT OR REPLACE INTO dedupe (key, seq, day) VALUES (?, ?, ?)",
  );
  type Keys = Pick<InboxRecord, "seq" | "event_key" | "message_key" | "received_at">;
  const since = database.query<[number], Keys>(
    "SELECT seq, event_key, message_key, received_at FROM inbox WHERE seq > ? ORDER BY seq",
  );
  const recent = new Map<number, number>();
  let loadedIn = -1;
  let loadedTo: number | undefined;
  let merging = false;

  /** Once in a batch, before any row is inserted in it: what is read is committed. */
  function load(): void {
    if (loadedIn === queue.batch) return;
    loadedIn = queue.batch;
    let last = loadedTo ?? mark.get()?.seq ?? 0;
    for (const { seq, event_key, message_key } of since.all(last)) {
      recent.set(event_key, seq);
      if (message_key !== null) recent.set(message_key, seq);
      last = seq;
    }
    loadedTo = last;
  }

  /** The row, if it is of the message that the key names and not of one whose key happens to be the same. */
  function confirm(key: DedupeKey, seq: number): InboxRecord | undefined {
    const row = inbox.record(seq);
    if (row === undefined || (row.event_key !== key.number && row.message_key !== key.number))
      return undefined;
    const event = inbox.event(row);
    const id = key.kind === "event" ? event.eventId : event.messageId;
    return event.channel === key.channel && event.account === key.account && id === key.id ? row : undefined;
  }

  async function merge(): Promise<void> {
    const from = await queue.read(() => {
      load();
      return mark.get()?.seq ?? 0;
    });
    const to = loadedTo ?? from;
    const keys: [key: number, seq: number, day: number][] = [];
    for (const { seq, event_key, message_key, received_at } of since.all(from)) {
      if (seq > to) break;
      const day = Math.floor(received_at / dayMs);
      keys.push([event_key, seq, day]);
      if (message_key !== null) keys.push([message_key, seq, day]);
    }
    keys.sort((a, b) => a[0] - b[0]);
    for (let start = 0; start < keys.length; start += mergeChunk) {
      await queue.write(() => {
        for (const key of keys.slice(start, start + mergeChunk)) put.run(...key);
      });
    }
    await queue.write(() => setMark.run(to));
    for (const [key, seq] of recent) if (seq <= to) recent.delete(key);
  }

  return {
    find(key) {
      load();
      const recentSeq = recent.get(key.number);
      const recentRow = recentSeq === undefined ? undefined : confirm(key, recentSeq);
      if (recentRow !== undefined) return { row: recentRow };
      const seq = indexed.get(key.number)?.seq;
      if (seq === undefined) return undefined;
      if (inbox.record(seq) === undefined) return "pruned";
      const row = confirm(key, seq);
      return row === undefined ? undefined : { row };
    },
    add(keys, seq) {
      for (const key of keys) recent.set(key.number, seq);
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
