import { EXPIRED_REASON, noticesAbout, prepareOutbox } from "@signalbox/store/backend";
import type { Bodies, LeaseToken, OutboxClaim, OutboxRow, OutboxStore } from "@signalbox/store/types";
import { inArray } from "drizzle-orm";
import { lockAwaiting } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Fence } from "./leases.ts";
import { endUndelivered } from "./outbox-ends.ts";
import { createOutboxHeads, type OutboxHeads } from "./outbox-heads.ts";
import type { ReadOutbox } from "./outbox-insert.ts";
import { isTooOld, lockOutboxRow, selectOutbox, toOutboxRows, updateOutboxRow } from "./outbox-rows.ts";
import { type OutboxRecord, outbox } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

/** Creates the methods that claim or expire due rows. */
export function createOutboxDue<T extends Bodies>(
  { database }: Context,
  fence: Fence,
  readOutbox: ReadOutbox<T>,
): Pick<OutboxStore<T>, "overdue" | "expire" | "claimDue"> {
  const heads = createOutboxHeads(database, fence);
  return {
    overdue: () => database.read(async (tx) => readFull<T>(tx, await heads.readOverdue(tx))),
    expire: async (ids, lease, word) => {
      const prepared = prepareOutbox(word === undefined ? [] : [word]);
      return database.write((tx) => expire<T>(tx, ids, lease, { fence, readOutbox, prepared }));
    },
    claimDue: (input) => database.write((tx) => claimDue<T>(tx, input, { fence, heads }), "outbox claim"),
  };
}

async function expire<T extends Bodies>(
  tx: Transaction,
  ids: readonly string[],
  lease: LeaseToken,
  {
    fence,
    readOutbox,
    prepared,
  }: {
    readonly fence: Fence;
    readonly readOutbox: ReadOutbox<T>;
    readonly prepared: ReturnType<typeof prepareOutbox>;
  },
): Promise<readonly OutboxRow<T["outbound"]>[]> {
  const [, rows, write, at] = await Promise.all([
    fence.check(tx, lease),
    Promise.all(ids.toSorted().map((id) => lockOutboxRow(tx, id))),
    readOutbox(tx, prepared),
    tx.now,
  ]);
  const ended = rows.filter((row) => row !== undefined).filter((row) => isTooOld(row, at));
  if (ended.length === 0) return [];
  const about = (await Promise.all(ended.map((row) => lockAwaiting(tx, row)))).flat();
  for (const row of ended) endUndelivered(tx, row, "expired", expiryOf(row), at);
  write(noticesAbout(prepared, about), { lease }, at);
  return readFull<T>(tx, ended);
}

function expiryOf({ receipts, partCount }: OutboxRecord): string {
  const sent = receipts.length === 0 ? "" : `; ${receipts.length} of ${partCount} parts are out`;
  return `${EXPIRED_REASON}${sent}`;
}

async function claimDue<T extends Bodies>(
  tx: Transaction,
  { lease, limit, except = [] }: Parameters<OutboxStore<T>["claimDue"]>[0],
  { fence, heads }: { readonly fence: Fence; readonly heads: OutboxHeads },
): Promise<OutboxClaim<T["outbound"]>> {
  const [, due, waitingUntil, at] = await Promise.all([
    fence.check(tx, lease),
    // One more, to report that more rows are due.
    heads.lockDue(tx, lease, limit + 1, except),
    heads.readNextAt(tx),
    tx.now,
  ]);
  const rows = due.slice(0, limit).flatMap(({ row, run }) => {
    const doubtful = row.state === "sending";
    const changes = {
      state: "sending" as const,
      leaseName: lease.name,
      leaseEpoch: lease.epoch,
      attempts: row.attempts + 1,
      // Keep the time of the first attempt. A platform remembers an idempotency key for a limited time after it.
      updatedAt: doubtful ? row.updatedAt : at,
    };
    updateOutboxRow(tx, row.seq, changes);
    return toOutboxRows<T>({ row: { ...row, ...changes }, run }).map((full) => ({ ...full, doubtful }));
  });
  const nextAt = due.length > limit ? at : waitingUntil;
  return { rows, nextAt: nextAt ?? undefined };
}

/** Returns the rows with their runs, in the order of their numbers. */
async function readFull<T extends Bodies>(
  { db }: Transaction,
  records: readonly OutboxRecord[],
): Promise<readonly OutboxRow<T["outbound"]>[]> {
  const seqs = records.map(({ seq }) => seq);
  const rows = await selectOutbox(db).where(inArray(outbox.seq, seqs)).orderBy(outbox.seq);
  return rows.flatMap(toOutboxRows<T>);
}
