import { rowOf } from "@signalbox/store/backend";
import { FencedError, StoreError } from "@signalbox/store/errors";
import type { InboxId, InboxSettle, LeaseToken } from "@signalbox/store/types";
import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import { inboxIdOf, updateMessage } from "./inbox-rows.ts";
import type { Fence } from "./leases.ts";
import { runIdOf } from "./run-rows.ts";
import { type InboxRecord, inbox, type RunRecord, run } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

/** Locks messages, in the order of their numbers. */
export async function lockMessages(
  { db }: Transaction,
  ids: readonly InboxId[],
): Promise<readonly InboxRecord[]> {
  if (ids.length === 0) return [];
  const seqs = ids.map((id) => rowOf(id) ?? 0);
  return db.select().from(inbox).where(inArray(inbox.seq, seqs)).orderBy(inbox.seq).for("update");
}

/**
 * @throws FencedError if another holder, whose lease is valid, has claimed one of the messages
 */
export async function checkHolders(
  { db }: Transaction,
  fence: Fence,
  ids: readonly InboxId[],
  { name, epoch }: LeaseToken,
): Promise<void> {
  if (ids.length === 0) return;
  const seqs = ids.map((id) => rowOf(id) ?? 0);
  const isForeign = sql`NOT ${fence.isLost(inbox)} AND (${inbox.leaseName}, ${inbox.leaseEpoch}) <> (${name}, ${epoch})`;
  const [foreign] = await db
    .select()
    .from(inbox)
    .where(and(inArray(inbox.seq, seqs), eq(inbox.state, "queued"), isForeign))
    .limit(1);
  if (foreign === undefined) return;
  const text = `Inbox message ${inboxIdOf(foreign)} waits under the lease "${foreign.leaseName}" of epoch ${foreign.leaseEpoch}.`;
  throw new FencedError(name, epoch, text);
}

/** Locks the messages that a run answers. */
export async function lockMessagesOfRun({ db }: Transaction, runId: string): Promise<readonly InboxRecord[]> {
  const taken: SQL = sql`(SELECT unnest(${run.inbox}) FROM ${run} WHERE ${run.n} = ${rowOf(runId) ?? 0})`;
  return db.select().from(inbox).where(sql`${inbox.seq} IN ${taken}`).orderBy(inbox.seq).for("update");
}

/**
 * Returns the row numbers of this session's queued messages.
 *
 * @throws StoreError `not_found`, `conflict`
 */
export function takeable(
  rows: readonly InboxRecord[],
  ids: readonly InboxId[],
  sessionKey: string,
): number[] {
  return ids.map((id) => {
    const row = rows.find((one) => inboxIdOf(one) === id);
    if (row === undefined) throw new StoreError("not_found", `There is no inbox message ${id}.`);
    if (row.state === "queued" && row.sessionKey === sessionKey) return row.seq;
    const where = row.sessionKey === null ? "without a session" : `in session "${row.sessionKey}"`;
    throw new StoreError(
      "conflict",
      `Inbox message ${id} is ${row.state} ${where}: no run of "${sessionKey}" can take it.`,
    );
  });
}

/** Assigns messages to a run. */
export function takeMessages({ db, send }: Transaction, seqs: readonly number[], n: number): void {
  if (seqs.length > 0)
    send(
      db
        .update(inbox)
        .set({ state: "running", run: n })
        .where(inArray(inbox.seq, [...seqs])),
    );
}

/** Ends every message of a run. Ignores messages that no longer exist. */
export function endMessages(
  tx: Transaction,
  record: RunRecord,
  rows: readonly InboxRecord[],
  settles: readonly InboxSettle[],
  at: number,
): void {
  const open = new Map(rows.filter((row) => row.run === record.n).map((row) => [inboxIdOf(row), row]));
  for (const to of settles) {
    const row = open.get(to.id);
    if (row === undefined || !open.delete(to.id)) {
      const text = `Inbox message ${to.id} does not belong to run ${runIdOf(record)}.`;
      throw new StoreError("conflict", text);
    }
    endMessage(tx, row, to, at);
  }
  if (open.size === 0) return;
  const text = `Run ${runIdOf(record)} would end and leave ${open.size} of its messages without an end.`;
  throw new StoreError("conflict", text);
}

function endMessage(
  tx: Transaction,
  { seq, rule, reason }: InboxRecord,
  { state, detail }: InboxSettle,
  at: number,
): void {
  // The message was withdrawn during the run.
  if (rule !== null) updateMessage(tx, seq, { state: "ignored", settledAt: at, rule, reason });
  else if (state === "queued") updateMessage(tx, seq, { state, run: null });
  else {
    const ended = { rule: detail?.rule ?? null, reason: detail?.reason ?? null };
    updateMessage(tx, seq, { ...ended, state, settledAt: at });
  }
}
