import { eq, sql } from "drizzle-orm";
import type { Answers } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Bound, Database } from "./database.ts";
import type { Fence } from "./leases.ts";
import type { OutboxEnds } from "./outbox-ends.ts";
import { createOutboxHeads, isTooOld, type OutboxHeads } from "./outbox-heads.ts";
import type { InsertOutbox } from "./outbox-insert.ts";
import { noticesAbout, prepareOutbox } from "./outbox-prepare.ts";
import type { OutboxRows } from "./outbox-rows.ts";
import { type OutboxRecord, outbox } from "./schema/index.ts";
import type { Bodies, LeaseToken } from "./types/common.ts";
import type { OutboxClaim, OutboxInsert, OutboxRow, OutboxStore } from "./types/outbox.ts";
import { EXPIRED_REASON } from "./undelivered.ts";

interface Parts<T extends Bodies> {
  readonly fence: Fence;
  readonly rows: OutboxRows<T>;
  readonly insert: InsertOutbox<T>;
  readonly ends: OutboxEnds;
  readonly answers: Pick<Answers, "awaiting">;
}

interface DueWork<T extends Bodies> extends Context, Parts<T> {
  readonly heads: OutboxHeads;
  readonly setClaimed: ReturnType<typeof prepareClaim>;
}

type Claimed<T extends Bodies> = OutboxRow<T["outbound"]> & { readonly doubtful: boolean };

/** Creates the methods that claim or expire due rows. */
export function createOutboxDue<T extends Bodies>(
  context: Context,
  parts: Parts<T>,
): Pick<OutboxStore<T>, "overdue" | "expire" | "claimDue"> {
  const { database, queue, now } = context;
  const heads = createOutboxHeads(database);
  const work: DueWork<T> = { ...context, ...parts, heads, setClaimed: prepareClaim(database) };
  return {
    overdue: () => queue.read(() => heads.tooOld(now()).flatMap(({ seq }) => parts.rows.full(seq) ?? [])),
    expire: async (ids, lease, word) => expire(work, ids, lease, word),
    claimDue: (input) => queue.write(() => claimDue(work, input)),
  };
}

function prepareClaim({ db, command }: Database) {
  return command((p: Bound<{ seq: number; leaseName: string; leaseEpoch: number; at: number }>) =>
    db
      .update(outbox)
      .set({
        state: "sending",
        leaseName: p("leaseName"),
        leaseEpoch: p("leaseEpoch"),
        attempts: sql`${outbox.attempts} + 1`,
        updatedAt: p("at"),
      })
      .where(eq(outbox.seq, p("seq"))),
  );
}

function expire<T extends Bodies>(
  { queue, fence, rows, insert, ends, answers, now }: DueWork<T>,
  ids: readonly string[],
  lease: LeaseToken,
  word: OutboxInsert<T["outbound"]> | undefined,
): Promise<readonly OutboxRow<T["outbound"]>[]> {
  const prepared = prepareOutbox(word === undefined ? [] : [word]);
  return queue.write(() => {
    fence.check(lease);
    const ended = ids.flatMap((id) => rows.byId(id) ?? []).filter((row) => isTooOld(row, now()));
    const about = ended.flatMap(answers.awaiting);
    for (const row of ended) {
      const out = row.receipts?.length ?? 0;
      const sent = out === 0 ? "" : `; ${out} of ${row.partCount} parts are out`;
      ends.undelivered(row, "expired", `${EXPIRED_REASON}${sent}`);
    }
    if (ended.length > 0) insert(noticesAbout(prepared, about), { lease });
    return ended.flatMap(({ seq }) => rows.full(seq) ?? []);
  });
}

function claimDue<T extends Bodies>(
  work: DueWork<T>,
  { lease, limit, except = [] }: Parameters<OutboxStore<T>["claimDue"]>[0],
): OutboxClaim<T["outbound"]> {
  const { fence, rows, now, heads } = work;
  fence.check(lease);
  const at = now();
  const claimed: Claimed<T>[] = [];
  const untils = heads.waiting(at).map(({ until }) => until);
  for (const row of heads.due(at)) {
    if (except.some(({ channel, account }) => channel === row.channel && account === row.account)) continue;
    if (row.state === "sending" && !isLost(work, row, lease)) continue;
    if (isTooOld(row, at)) {
      // The row expired after the last `overdue()`. The next `expire()` ends it.
      if (rows.full(row.seq) === undefined) giveUpDamaged(work, row);
      untils.push(at);
    } else if (claimed.length < limit) {
      const taken = claim(work, row, lease);
      // The next call claims the row after the one that was given up.
      if (taken === undefined) untils.push(at);
      else claimed.push(taken);
    } else {
      untils.push(at);
      break;
    }
  }
  return { rows: claimed, nextAt: untils.length === 0 ? undefined : Math.min(...untils) };
}

function isLost<T extends Bodies>({ fence }: DueWork<T>, row: OutboxRecord, own: LeaseToken): boolean {
  if (row.leaseName === null || row.leaseEpoch === null) return true;
  return fence.lost({ name: row.leaseName, epoch: row.leaseEpoch }, own);
}

/** Claims a row. Returns undefined if the row was damaged and therefore given up. */
function claim<T extends Bodies>(
  work: DueWork<T>,
  row: OutboxRecord,
  lease: LeaseToken,
): Claimed<T> | undefined {
  const { seq } = row;
  const doubtful = row.state === "sending";
  // Keep the time of the first attempt, because a platform remembers an idempotency key for a limited time after it.
  const at = doubtful ? row.updatedAt : work.now();
  work.setClaimed.run({ seq, leaseName: lease.name, leaseEpoch: lease.epoch, at });
  const claimed = work.rows.full(seq);
  if (claimed !== undefined) return { ...claimed, doubtful };
  giveUpDamaged(work, row);
  return undefined;
}

/** Marks a row with damaged content as dead. Otherwise it would block the rows after it. */
function giveUpDamaged<T extends Bodies>({ ends }: DueWork<T>, row: OutboxRecord): void {
  ends.undelivered(row, "dead", "its content is missing or damaged in the database");
}
