import { hash } from "node:crypto";
import { answersText } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Entries } from "./entries.ts";
import { StoreError } from "./errors.ts";
import { rowOf } from "./ids.ts";
import { decode, encode } from "./json.ts";
import type { OutboxRecord } from "./records.ts";
import type { Bodies, LeaseToken, OutboxId, RunId } from "./types/common.ts";
import type { OutboxInsert, OutboxRow, PartReceipt } from "./types/outbox.ts";

const keyShape = /^[0-9A-Za-z_-]{1,20}$/;

/** An insert checked and encoded, before its transaction. */
export interface PreparedOutbox {
  readonly row: OutboxInsert;
  readonly payload: string;
}

/** Where rows come from. */
interface OutboxOrigin {
  readonly lease: LeaseToken;
  readonly run: number | null;
  readonly runId: RunId | null;
  readonly sessionKey: string | null;
  /** The place of the first row among those of its run. */
  readonly place: number;
}

/** What several parts need of the outbox. */
export interface OutboxRows<T extends Bodies> {
  insert(rows: readonly PreparedOutbox[], origin: OutboxOrigin): OutboxRow<T>[];
  record(seq: number): OutboxRecord | undefined;
  byId(id: string): OutboxRecord | undefined;
  byKey(key: string): OutboxRecord | undefined;
  toRow(record: OutboxRecord): OutboxRow<T>;
}

/** @throws StoreError `invalid` */
export function prepareOutbox(rows: readonly OutboxInsert[]): PreparedOutbox[] {
  return rows.map((row) => {
    if (row.key !== undefined && !keyShape.test(row.key)) {
      throw new StoreError(
        "invalid",
        `The outbox key "${row.key}" is not 1 to 20 characters of 0-9, A-Z, a-z, _ and -.`,
      );
    }
    return { row, payload: encode(row.payload, "The payload of an outbox row") };
  });
}

/** The same run and place give the same key. 96 bits in 16 characters. */
function derivedKey(origin: string, place: number): string {
  return hash("sha256", `${origin}\0${place}`, "buffer").subarray(0, 12).toString("base64url");
}

export function createOutboxRows<T extends Bodies>(
  { database, now, newIdMaker }: Context,
  entries: Entries,
): OutboxRows<T> {
  const makeId = newIdMaker();
  const bySeq = database.query<[number], OutboxRecord>("SELECT * FROM outbox WHERE seq = ?");
  const byKey = database.query<[string], OutboxRecord>("SELECT * FROM outbox WHERE key = ? AND keyed = 1");
  const nextSeq = database.query<[], { seq: number }>("SELECT coalesce(max(seq), 0) + 1 AS seq FROM outbox");
  const waitsFor = database.query<[string, string, string], { seq: number }>(
    `SELECT seq FROM outbox WHERE channel = ? AND account = ? AND address = ? AND state IN ('pending', 'sending') LIMIT 1`,
  );
  const insert = database.command<
    [
      ...[number, OutboxId, string, number, number, string, string, string, number],
      ...[string, string | null, number | null, number, number, number | null, number, string | null],
    ]
  >(
    `INSERT INTO outbox (seq, id, key, keyed, entry, channel, account, address, part_count, state, lease_name, lease_epoch,
       attempts, next_at, expires_at, created_at, updated_at, answers)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?16, ?17)`,
  );
  const runId = database.query<[number], { id: RunId }>("SELECT id FROM run WHERE n = ?");

  function toRow(record: OutboxRecord): OutboxRow<T> {
    const entry = entries.get(record.entry);
    if (entry === undefined)
      throw new StoreError("corrupt", `The body of outbox row ${record.id} is missing.`);
    const run = entry.run === null ? undefined : runId.get(entry.run)?.id;
    return {
      id: record.id,
      ...(run === undefined ? {} : { runId: run }),
      ...(entry.session_key === null ? {} : { sessionKey: entry.session_key }),
      channel: record.channel,
      account: record.account,
      address: record.address,
      payload: decode<T["outbound"]>(entry.body),
      partCount: record.part_count,
      key: record.key,
      state: record.state,
      attempts: record.attempts,
      nextAt: record.next_at,
      ...(record.expires_at === null ? {} : { expiresAt: record.expires_at }),
      receipts: record.receipts === null ? [] : decode<PartReceipt[]>(record.receipts),
      ...(record.error === null ? {} : { error: record.error }),
      createdAt: record.created_at,
      updatedAt: record.updated_at,
    };
  }

  function insertOne({ row, payload }: PreparedOutbox, origin: OutboxOrigin, place: number): OutboxRow<T> {
    const earlier = row.key === undefined ? undefined : byKey.get(row.key);
    if (earlier !== undefined) return toRow(earlier);
    const at = now();
    const seq = nextSeq.get()?.seq ?? 1;
    const id = makeId<OutboxId>(at, seq);
    const key = row.key ?? derivedKey(origin.runId ?? id, place);
    const { channel, account, address } = row;
    const due = row.notBefore === undefined || row.notBefore <= at;
    const claimed = row.claim === true && due && waitsFor.get(channel, account, address) === undefined;
    const entry = entries.add("outbound", payload, { at, run: origin.run, sessionKey: origin.sessionKey });
    insert.run(
      ...([seq, id, key, row.key === undefined ? 0 : 1, entry, channel, account, address] as const),
      row.partCount ?? 1,
      claimed ? "sending" : "pending",
      claimed ? origin.lease.name : null,
      claimed ? origin.lease.epoch : null,
      claimed ? 1 : 0,
      row.notBefore ?? at,
      row.expiresAt ?? null,
      at,
      answersText(row.answers),
    );
    const inserted = bySeq.get(seq);
    if (inserted === undefined) throw new StoreError("io", `Outbox row ${id} is gone after its insert.`);
    return toRow(inserted);
  }

  return {
    insert: (rows, origin) => rows.map((row, index) => insertOne(row, origin, origin.place + index)),
    record: (seq) => bySeq.get(seq),
    byId(id) {
      const seq = rowOf(id);
      const record = seq === undefined ? undefined : bySeq.get(seq);
      return record?.id === id ? record : undefined;
    },
    byKey: (key) => byKey.get(key),
    toRow,
  };
}
