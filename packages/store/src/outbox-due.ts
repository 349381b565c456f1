import { and, asc, eq, gt, inArray, isNull, lte, min, not, or, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound, Database } from "./database.ts";
import { type Fence, isSameLease } from "./leases.ts";
import type { OutboxEnds } from "./outbox-ends.ts";
import { type InsertOutbox, prepareOutbox } from "./outbox-insert.ts";
import { type Destination, isUnsentTo, type OutboxRows } from "./outbox-rows.ts";
import { isUnsent, type OutboxRecord, outbox } from "./schema/index.ts";
import type { Bodies, LeaseToken } from "./types/common.ts";
import type { OutboxClaim, OutboxInsert, OutboxRow, OutboxStore } from "./types/outbox.ts";

interface Parts<T extends Bodies> {
  readonly fence: Fence;
  readonly rows: OutboxRows<T>;
  readonly insert: InsertOutbox<T>;
  readonly ends: OutboxEnds;
}

interface DueWork<T extends Bodies> extends Context, Parts<T> {
  readonly statements: ReturnType<typeof prepareStatements>;
}

type Claimed<T extends Bodies> = OutboxRow<T> & { readonly doubtful: boolean };

/** Rows that are looked at together. */
const PAGE = 100;

/** What is to be sent next: it is taken to be sent, or nobody wants it any more. */
export function createOutboxDue<T extends Bodies>(
  context: Context,
  parts: Parts<T>,
): Pick<OutboxStore<T>, "overdue" | "expire" | "claimDue"> {
  const work: DueWork<T> = { ...context, ...parts, statements: prepareStatements(context.database) };
  const { queue, rows } = work;
  return {
    overdue: () => queue.read(() => overdue(work).flatMap(({ seq }) => rows.full(seq) ?? [])),
    expire: async (ids, lease, word) => expire(work, ids, lease, word),
    claimDue: ({ lease, limit }) => queue.write(() => claimDue(work, lease, limit)),
  };
}

/** Many may wait, for an account that is away, while others are sent: SQLite tells them apart, and reads few as rows. */
function prepareStatements(database: Database) {
  const { db } = database;
  /** The first unsent row of each address. */
  const isHead = () =>
    inArray(
      outbox.seq,
      db
        .select({ seq: min(outbox.seq) })
        .from(outbox)
        .where(isUnsent)
        .groupBy(outbox.channel, outbox.account, outbox.address),
    );
  const isPending = eq(outbox.state, "pending");
  // Where the clock was set back since, nobody knows for how long it was to wait, and it has waited.
  const waits = ({ at }: Bound<{ at: number }>) =>
    sql`${and(
      isPending,
      gt(outbox.nextAt, at),
      lte(outbox.updatedAt, at),
      or(isNull(outbox.expiresAt), gt(outbox.expiresAt, at)),
    )}`;
  return {
    /** The oldest first, behind `after`. */
    due: database.query((p: Bound<{ at: number; after: number }>) =>
      db
        .select()
        .from(outbox)
        .where(and(isHead(), gt(outbox.seq, p.after), not(waits(p))))
        .orderBy(asc(outbox.seq))
        .limit(PAGE),
    ),
    /** Until when each account waits. */
    waiting: database.query((p: Bound<{ at: number }>) =>
      db
        .select({
          channel: outbox.channel,
          account: outbox.account,
          until: sql<number>`min(${outbox.nextAt})`,
        })
        .from(outbox)
        .where(and(isHead(), waits(p)))
        .groupBy(outbox.channel, outbox.account),
    ),
    overdue: database.query((p: Bound<{ at: number }>) =>
      db
        .select()
        .from(outbox)
        .where(and(isHead(), isPending, lte(outbox.expiresAt, p.at)))
        .orderBy(asc(outbox.seq)),
    ),
    nextTo: database.query((p: Bound<Destination & { seq: number }>) =>
      db
        .select()
        .from(outbox)
        .where(and(isUnsentTo(p), gt(outbox.seq, p.seq)))
        .orderBy(asc(outbox.seq))
        .limit(1),
    ),
    claim: database.command((p: Bound<{ seq: number; leaseName: string; leaseEpoch: number; at: number }>) =>
      db
        .update(outbox)
        .set({
          state: "sending",
          leaseName: p.leaseName,
          leaseEpoch: p.leaseEpoch,
          attempts: sql`${outbox.attempts} + 1`,
          updatedAt: p.at,
        })
        .where(eq(outbox.seq, p.seq)),
    ),
  };
}

/** What may be out already is for reconciliation to decide, not for the clock. */
function isTooOld({ state, expiresAt }: OutboxRecord, at: number): boolean {
  return state === "pending" && expiresAt !== null && expiresAt <= at;
}

/** What nobody wants any more of what would be sent next. */
function overdue<T extends Bodies>({ statements, now }: DueWork<T>): OutboxRecord[] {
  const found: OutboxRecord[] = [];
  const at = now();
  for (const head of statements.overdue.all({ at })) {
    let row: OutboxRecord | undefined = head;
    for (; row !== undefined && isTooOld(row, at); row = statements.nextTo.get(row)) found.push(row);
  }
  return found;
}

function expire<T extends Bodies>(
  { queue, fence, rows, insert, ends, now }: DueWork<T>,
  ids: readonly string[],
  lease: LeaseToken,
  word: OutboxInsert<T> | undefined,
): Promise<readonly OutboxRow<T>[]> {
  const prepared = prepareOutbox(word === undefined ? [] : [word]);
  return queue.write(() => {
    fence.check(lease);
    const ended = ids.flatMap((id) => rows.byId(id) ?? []).filter((row) => isTooOld(row, now()));
    for (const row of ended) {
      const out = row.receipts.length;
      const sent = out === 0 ? "" : `; ${out} of ${row.partCount} parts are out`;
      ends.undelivered(row, "expired", `time to live passed${sent}`);
    }
    if (ended.length > 0) insert(prepared, { lease });
    return ended.flatMap(({ seq }) => rows.full(seq) ?? []);
  });
}

function claimDue<T extends Bodies>(work: DueWork<T>, lease: LeaseToken, limit: number): OutboxClaim<T> {
  const { fence, rows, now, statements } = work;
  fence.check(lease);
  const at = now();
  const claimed: Claimed<T>[] = [];
  const untils = statements.waiting
    .all({ at })
    .flatMap(({ until, ...account }) => (fence.isElsewhere(account, lease) ? [] : [until]));
  for (const row of dueHeads(work, at)) {
    if (row.state === "sending" && !isLost(work, row, lease)) continue;
    if (fence.isElsewhere(row, lease)) continue;
    if (isTooOld(row, at)) {
      // It became so since somebody looked, and is ended when somebody looks again.
      if (rows.full(row.seq) === undefined) giveUpDamaged(work, row);
      untils.push(at);
    } else if (claimed.length < limit) {
      const taken = claim(work, row, lease);
      // What stands behind one that was given up is looked at next time.
      if (taken === undefined) untils.push(at);
      else claimed.push(taken);
    } else {
      untils.push(at);
      break;
    }
  }
  return { rows: claimed, ...(untils.length === 0 ? {} : { nextAt: Math.min(...untils) }) };
}

function* dueHeads<T extends Bodies>({ statements }: DueWork<T>, at: number): Generator<OutboxRecord> {
  let after: number | undefined = 0;
  while (after !== undefined) {
    const page: OutboxRecord[] = statements.due.all({ at, after });
    yield* page;
    after = page.at(PAGE - 1)?.seq;
  }
}

/** What is sent under the asker's own lease is under way there, also where that has run out meanwhile. */
function isLost<T extends Bodies>({ fence }: DueWork<T>, row: OutboxRecord, own: LeaseToken): boolean {
  if (row.leaseName === null || row.leaseEpoch === null) return true;
  const holder = { name: row.leaseName, epoch: row.leaseEpoch };
  return !isSameLease(own, holder) && fence.lost(holder);
}

/** Undefined for one that had to be given up. */
function claim<T extends Bodies>(
  work: DueWork<T>,
  row: OutboxRecord,
  lease: LeaseToken,
): Claimed<T> | undefined {
  const { seq, state } = row;
  work.statements.claim.run({ seq, leaseName: lease.name, leaseEpoch: lease.epoch, at: work.now() });
  const claimed = work.rows.full(seq);
  if (claimed !== undefined) return { ...claimed, doubtful: state === "sending" };
  giveUpDamaged(work, row);
  return undefined;
}

/** One whose content is damaged would keep all others waiting. */
function giveUpDamaged<T extends Bodies>({ ends }: DueWork<T>, row: OutboxRecord): void {
  ends.undelivered(row, "dead", "its content is missing or damaged in the database");
}
