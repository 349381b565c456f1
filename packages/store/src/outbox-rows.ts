import { and, eq, type SQL } from "drizzle-orm";
import { answeredRows } from "./answers.ts";
import type { Context } from "./context.ts";
import { crypto } from "./crypto.ts";
import type { Bound } from "./database.ts";
import type { Entries } from "./entries.ts";
import { StoreError } from "./errors.ts";
import { type GroupHistoryRows, type PreparedHistory, prepareHistory } from "./group-history-rows.ts";
import { idOf, rowOf } from "./ids.ts";
import { decode, encode } from "./json.ts";
import type { Fence } from "./leases.ts";
import { runIdOf } from "./run-rows.ts";
import { entry, isKeyed, isUnsent, type OutboxRecord, outbox, type RunRecord, run } from "./schema/index.ts";
import type { Bodies, LeaseToken, OutboxId } from "./types/common.ts";
import type { OutboxInsert, OutboxRow } from "./types/outbox.ts";

const keyShape = /^[0-9A-Za-z_-]{1,20}$/;

/** Where rows are sent, those of one destination in their order. */
export interface Destination {
  readonly channel: string;
  readonly account: string;
  readonly address: string;
}

/** An insert checked and encoded, before its transaction. */
export interface PreparedOutbox {
  readonly row: OutboxInsert;
  readonly payload: string;
  readonly told?: PreparedHistory;
}

/** Where rows come from. */
interface OutboxOrigin {
  readonly lease: LeaseToken;
  readonly run?: RunRecord;
  readonly sessionKey?: string | null;
  /** The place of the first row among those of its run. Default 0. */
  readonly place?: number;
}

/** A row that was added, or that was there with the same key. */
interface Inserted<T extends Bodies> {
  readonly seq: number;
  readonly row: OutboxRow<T>;
}

/** A row with what belongs to it; without a body the file was damaged. */
interface Joined {
  readonly row: OutboxRecord;
  readonly body: string | null;
  readonly sessionKey: string | null;
  readonly run: Pick<RunRecord, "n" | "nonce" | "startedAt"> | null;
}

/** What several parts need of the outbox. */
export interface OutboxRows<T extends Bodies> {
  insert(rows: readonly PreparedOutbox[], origin: OutboxOrigin): readonly Inserted<T>[];
  record(seq: number): OutboxRecord | undefined;
  byId(id: string): OutboxRecord | undefined;
  byKey(key: string): OutboxRecord | undefined;
  /** Whether something is still to be sent there. */
  hasUnsent(to: Destination): boolean;
  /** `undefined` where its body is gone. */
  full(seq: number): OutboxRow<T> | undefined;
  /** The newest of those that meet the conditions, in the order given; without rows whose body is gone. */
  list(where: SQL | undefined, orderBy: readonly SQL[], limit: number): readonly OutboxRow<T>[];
}

/** Rows still to be sent to one destination. */
export const isUnsentTo = (to: Bound<Destination>): SQL | undefined =>
  and(
    eq(outbox.channel, to.channel),
    eq(outbox.account, to.account),
    eq(outbox.address, to.address),
    isUnsent,
  );

function outboxIdOf({ createdAt, nonce, seq }: Pick<OutboxRecord, "createdAt" | "nonce" | "seq">): OutboxId {
  return idOf<OutboxId>(createdAt, nonce, seq);
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
    return {
      row,
      payload: encode(row.payload, "The payload of an outbox row"),
      ...(row.told === undefined ? {} : { told: prepareHistory(row.told) }),
    };
  });
}

/** The same run and place give the same key. 96 bits in 16 characters. */
function derivedKey(origin: string, place: number): string {
  return crypto().hash("sha256", `${origin}\0${place}`, "buffer").subarray(0, 12).toString("base64url");
}

export function createOutboxRows<T extends Bodies>(
  { database, now, nonce }: Context,
  fence: Fence,
  entries: Entries,
  history: GroupHistoryRows,
): OutboxRows<T> {
  const { db } = database;
  const withBody = () =>
    db
      .select({
        row: outbox,
        body: entry.body,
        sessionKey: entry.sessionKey,
        run: { n: run.n, nonce: run.nonce, startedAt: run.startedAt },
      })
      .from(outbox)
      .leftJoin(entry, eq(entry.id, outbox.entry))
      .leftJoin(run, eq(run.n, outbox.run))
      .$dynamic();
  const bySeq = database.query((p: Bound<{ seq: number }>) =>
    db.select().from(outbox).where(eq(outbox.seq, p.seq)),
  );
  const fullBySeq = database.query((p: Bound<{ seq: number }>) => withBody().where(eq(outbox.seq, p.seq)));
  const byKey = database.query((p: Bound<{ key: string }>) =>
    db
      .select()
      .from(outbox)
      .where(and(eq(outbox.key, p.key), isKeyed)),
  );
  const firstUnsent = database.query((p: Bound<Destination>) =>
    db.select({ seq: outbox.seq }).from(outbox).where(isUnsentTo(p)).limit(1),
  );
  const hasUnsent = ({ channel, account, address }: Destination): boolean =>
    firstUnsent.get({ channel, account, address }) !== undefined;
  const insert = database.insert(outbox);

  function toRow({ row, sessionKey, run: made }: Omit<Joined, "body">, body: string): OutboxRow<T> {
    return {
      id: outboxIdOf(row),
      ...(made === null ? {} : { runId: runIdOf(made) }),
      ...(sessionKey === null ? {} : { sessionKey }),
      channel: row.channel,
      account: row.account,
      address: row.address,
      payload: decode<T["outbound"]>(body),
      partCount: row.partCount,
      key: row.key,
      state: row.state,
      attempts: row.attempts,
      nextAt: row.nextAt,
      ...(row.expiresAt === null ? {} : { expiresAt: row.expiresAt }),
      receipts: row.receipts,
      ...(row.error === null ? {} : { error: row.error }),
      createdAt: row.createdAt,
      updatedAt: row.updatedAt,
    };
  }

  function full(seq: number): OutboxRow<T> | undefined {
    const joined = fullBySeq.get({ seq });
    return joined === undefined || joined.body === null ? undefined : toRow(joined, joined.body);
  }

  function mustBeFull(seq: number): OutboxRow<T> {
    const row = full(seq);
    if (row === undefined) throw new StoreError("corrupt", `Outbox row ${seq} or its content is missing.`);
    return row;
  }

  function insertOne(
    { row, payload, told }: PreparedOutbox,
    origin: OutboxOrigin,
    place: number,
  ): Inserted<T> {
    const earlier = row.key === undefined ? undefined : byKey.get({ key: row.key });
    if (earlier !== undefined) return { seq: earlier.seq, row: mustBeFull(earlier.seq) };
    const at = now();
    const { channel, account, address } = row;
    const due = row.notBefore === undefined || row.notBefore <= at;
    const mayClaim = row.claim === true && due && !fence.isElsewhere(row, origin.lease);
    const claimed = mayClaim && !hasUnsent(row);
    const body = entries.add("outbound", payload, { at, sessionKey: origin.sessionKey ?? null });
    const maker = origin.run === undefined ? `${nonce(at)} ${body}` : runIdOf(origin.run);
    const inserted: Omit<OutboxRecord, "seq"> = {
      nonce: nonce(at),
      key: row.key ?? derivedKey(maker, place),
      keyed: row.key !== undefined,
      entry: body,
      run: origin.run?.n ?? null,
      channel,
      account,
      address,
      partCount: row.partCount ?? 1,
      state: claimed ? "sending" : "pending",
      leaseName: claimed ? origin.lease.name : null,
      leaseEpoch: claimed ? origin.lease.epoch : null,
      attempts: claimed ? 1 : 0,
      nextAt: row.notBefore ?? at,
      expiresAt: row.expiresAt ?? null,
      receipts: [],
      error: null,
      createdAt: at,
      updatedAt: at,
      answers: answeredRows(row.answers),
    };
    const seq = insert.run(inserted).rowNumber;
    if (told !== undefined) history.push(told);
    const { sessionKey = null, run: made = null } = origin;
    // Known as it is: under load reading it again costs as much as writing it.
    return { seq, row: toRow({ row: { seq, ...inserted }, run: made, sessionKey }, payload) };
  }

  return {
    insert: (rows, origin) => rows.map((row, index) => insertOne(row, origin, (origin.place ?? 0) + index)),
    record: (seq) => bySeq.get({ seq }),
    byId(id) {
      const seq = rowOf(id);
      const record = seq === undefined ? undefined : bySeq.get({ seq });
      return record !== undefined && outboxIdOf(record) === id ? record : undefined;
    },
    byKey: (key) => byKey.get({ key }),
    hasUnsent,
    full,
    list: (where, orderBy, limit) =>
      withBody()
        .where(where)
        .orderBy(...orderBy)
        .limit(limit)
        .all()
        .flatMap((joined) => (joined.body === null ? [] : toRow(joined, joined.body))),
  };
}
