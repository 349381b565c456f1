import { decodeIntact, idOf, isSameLease, rowOf } from "@signalbox/store/backend";
import { FencedError, StoreError } from "@signalbox/store/errors";
import type { JsonValue, LeaseToken, Run, RunId, RunUsage, RunWrite } from "@signalbox/store/types";
import { eq } from "drizzle-orm";
import type { Fence } from "./leases.ts";
import { type RunRecord, run } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

export function runIdOf({ startedAt, nonce, n }: Pick<RunRecord, "startedAt" | "nonce" | "n">): RunId {
  return idOf<RunId>(startedAt, nonce, n);
}

/** Returns the lease that was used for the last write to a run. */
export function stampOf({ leaseName, leaseEpoch }: RunRecord): LeaseToken {
  return { name: leaseName, epoch: leaseEpoch };
}

export async function findRun({ db }: Transaction, id: string): Promise<RunRecord | undefined> {
  const rows = await db
    .select()
    .from(run)
    .where(eq(run.n, rowOf(id) ?? 0));
  return rows.find((row) => runIdOf(row) === id);
}

/** Like {@link findRun}, and locks the row until the end of the transaction. */
export async function lockRun({ db }: Transaction, id: string): Promise<RunRecord | undefined> {
  const rows = await db
    .select()
    .from(run)
    .where(eq(run.n, rowOf(id) ?? 0))
    .for("update");
  return rows.find((row) => runIdOf(row) === id);
}

/**
 * Locks the run and returns it if this lease may write to it.
 *
 * @throws FencedError if the lease or the run's lease has another epoch
 * @throws StoreError `not_found`, `conflict`
 */
export async function lockRunning(
  tx: Transaction,
  fence: Fence,
  { runId, lease }: RunWrite,
): Promise<RunRecord> {
  const [, record] = await Promise.all([fence.check(tx, lease), lockRun(tx, runId)]);
  if (record === undefined) throw new StoreError("not_found", `There is no run ${runId}.`);
  if (!isSameLease(lease, stampOf(record))) {
    const text = `Run ${runId} continues under lease "${record.leaseName}" of epoch ${record.leaseEpoch}.`;
    throw new FencedError(lease.name, lease.epoch, text);
  }
  if (record.state !== "running")
    throw new StoreError("conflict", `Run ${runId} has ended: ${record.state}.`);
  return record;
}

/** Adds outbox rows to a run's replies. */
export function withReplies(
  replies: readonly number[],
  added: readonly { readonly seq: number }[],
): number[] {
  return [...new Set([...replies, ...added.map(({ seq }) => seq)])];
}

function toUsage(row: RunRecord): RunUsage | undefined {
  const usage: RunUsage = {
    modelCalls: row.modelCalls ?? undefined,
    inputTokens: row.inputTokens ?? undefined,
    outputTokens: row.outputTokens ?? undefined,
    cacheReadTokens: row.cacheReadTokens ?? undefined,
    cacheWriteTokens: row.cacheWriteTokens ?? undefined,
    costMicros: row.costMicros ?? undefined,
  };
  return Object.keys(usage).length === 0 ? undefined : usage;
}

export function toRun(record: RunRecord): Run {
  const usage = toUsage(record);
  const meta = decodeIntact<JsonValue>(record.meta);
  return {
    id: runIdOf(record),
    sessionKey: record.sessionKey,
    agentId: record.agentId,
    generation: record.generation,
    state: record.state,
    lease: stampOf(record),
    attempts: record.attempts,
    meta,
    error: record.error ?? undefined,
    usage,
    startedAt: record.startedAt,
    finishedAt: record.finishedAt ?? undefined,
  };
}
