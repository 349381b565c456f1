import { and, eq, ne, or, type SQL } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { idOf, rowOf } from "./ids.ts";
import { decodeIntact } from "./json.ts";
import { runIdOf } from "./run-rows.ts";
import { entry, isKeyed, isUnsent, type OutboxRecord, outbox, type RunRecord, run } from "./schema/index.ts";
import type { Bodies, OutboxId } from "./types/common.ts";
import type { OutboxRow } from "./types/outbox.ts";

/** A destination. Rows of one destination are sent in order. */
export interface Destination {
  readonly channel: string;
  readonly account: string;
  readonly address: string;
}

/**
 * A row with its body, session and run. If the body is missing or unreadable, or if the receipts are unreadable, the
 * file is damaged.
 */
interface Joined {
  readonly row: OutboxRecord;
  readonly body: string | null;
  readonly sessionKey: string | null;
  readonly run: Pick<RunRecord, "n" | "nonce" | "startedAt"> | null;
}

/** Outbox queries that several modules share. */
export interface OutboxRows<T extends Bodies> {
  byId(id: string): OutboxRecord | undefined;
  byKey(key: string): OutboxRecord | undefined;
  /** Returns whether the destination has unsent rows. */
  hasUnsent(to: Destination): boolean;
  /** Returns true if the destination has unsent rows that are being sent or have receipts. */
  hasPartlySent(to: Destination): boolean;
  /**
   * Returns the row, or undefined if it is damaged. Without its body and receipts, the content and the parts already
   * sent are unknown.
   */
  full(seq: number): OutboxRow<T["outbound"]> | undefined;
  /** Returns up to `limit` undamaged rows that meet the condition, in the given order. */
  list(where: SQL | undefined, orderBy: readonly SQL[], limit: number): readonly OutboxRow<T["outbound"]>[];
}

/** Selects the unsent rows of a destination. */
export const isUnsentTo = (to: Bound<Destination>): SQL | undefined =>
  and(
    eq(outbox.channel, to("channel")),
    eq(outbox.account, to("account")),
    eq(outbox.address, to("address")),
    isUnsent,
  );

function outboxIdOf({ createdAt, nonce, seq }: OutboxRecord): OutboxId {
  return idOf<OutboxId>(createdAt, nonce, seq);
}

export function toOutboxRow<T extends Bodies>(
  { row, sessionKey, run: made }: Omit<Joined, "body">,
  { payload, receipts }: Pick<OutboxRow<T["outbound"]>, "payload" | "receipts">,
): OutboxRow<T["outbound"]> {
  return {
    id: outboxIdOf(row),
    runId: made === null ? undefined : runIdOf(made),
    sessionKey: sessionKey ?? undefined,
    channel: row.channel,
    account: row.account,
    address: row.address,
    payload,
    partCount: row.partCount,
    key: row.key,
    state: row.state,
    attempts: row.attempts,
    nextAt: row.nextAt,
    expiresAt: row.expiresAt ?? undefined,
    receipts,
    error: row.error ?? undefined,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

export function createOutboxRows<T extends Bodies>({ database }: Context): OutboxRows<T> {
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
    db
      .select()
      .from(outbox)
      .where(eq(outbox.seq, p("seq"))),
  );
  const fullBySeq = database.query((p: Bound<{ seq: number }>) => withBody().where(eq(outbox.seq, p("seq"))));
  const byKey = database.query((p: Bound<{ key: string }>) =>
    db
      .select()
      .from(outbox)
      .where(and(eq(outbox.key, p("key")), isKeyed)),
  );
  const firstUnsent = database.query((p: Bound<Destination>) =>
    db.select({ seq: outbox.seq }).from(outbox).where(isUnsentTo(p)),
  );
  // The unsent rows come first for the index. Damaged receipts count.
  const firstPartlySent = database.query((p: Bound<Destination>) =>
    db
      .select({ seq: outbox.seq })
      .from(outbox)
      .where(and(isUnsentTo(p), or(eq(outbox.state, "sending"), ne(outbox.receipts, [])))),
  );
  const kept = (joined: Joined) => {
    const payload = decodeIntact<T["outbound"]>(joined.body);
    const { receipts } = joined.row;
    if (payload === undefined || receipts === undefined) return [];
    return [toOutboxRow<T>(joined, { payload, receipts })];
  };

  return {
    byId(id) {
      const seq = rowOf(id);
      const record = seq === undefined ? undefined : bySeq.get({ seq });
      return record !== undefined && outboxIdOf(record) === id ? record : undefined;
    },
    byKey: (key) => byKey.get({ key }),
    hasUnsent: ({ channel, account, address }) =>
      firstUnsent.get({ channel, account, address }) !== undefined,
    hasPartlySent: ({ channel, account, address }) =>
      firstPartlySent.get({ channel, account, address }) !== undefined,
    full(seq) {
      const joined = fullBySeq.get({ seq });
      return joined === undefined ? undefined : kept(joined)[0];
    },
    list: (where, orderBy, limit) =>
      withBody()
        .where(where)
        .orderBy(...orderBy)
        .limit(limit)
        .all()
        .flatMap(kept),
  };
}
