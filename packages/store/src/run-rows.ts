import { and, asc, eq } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { FencedError, StoreError } from "./errors.ts";
import { idOf, rowOf } from "./ids.ts";
import { decodeIntact } from "./json.ts";
import { isSameLease } from "./lease-token.ts";
import type { Fence } from "./leases.ts";
import { inbox, outbox, type RunRecord, run } from "./schema/index.ts";
import type { JsonValue, LeaseToken, RunId } from "./types/common.ts";
import type { Run, RunWrite } from "./types/runs.ts";
import type { RunUsage } from "./types/usage.ts";

/** Run queries that several modules share. */
export interface RunRows {
  record(n: number): RunRecord | undefined;
  byId(id: string): RunRecord | undefined;
  /**
   * Returns the run if this lease may write to it.
   *
   * @throws FencedError if the lease or the run's lease has another epoch
   * @throws StoreError `not_found`, `conflict`
   */
  running(write: RunWrite): RunRecord;
  /**
   * Returns the row numbers of the messages that the run answers. If the run's list is damaged, uses the `run` column
   * of the messages.
   */
  messagesOf(record: RunRecord): readonly number[];
  /**
   * Returns the row numbers of the run's replies. If the run's list is damaged, uses the `run` column of the replies.
   */
  repliesOf(record: RunRecord): readonly number[];
  /** Adds outbox rows to a run's replies. */
  addOutbox(record: RunRecord, added: readonly Reply[]): void;
  toRun(record: RunRecord): Run;
}

export function runIdOf({ startedAt, nonce, n }: Pick<RunRecord, "startedAt" | "nonce" | "n">): RunId {
  return idOf<RunId>(startedAt, nonce, n);
}

/** An outbox row. */
interface Reply {
  readonly seq: number;
}

/** Merges new row numbers into a run's reply numbers. */
export function withReplies(replies: readonly number[], added: readonly Reply[]): number[] {
  return [...new Set([...replies, ...added.map(({ seq }) => seq)])];
}

/** Returns the lease that was used for the last write to a run. */
export function stampOf({ leaseName, leaseEpoch }: RunRecord): LeaseToken {
  return { name: leaseName, epoch: leaseEpoch };
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

export function createRunRows({ database }: Context, fence: Fence): RunRows {
  const { db } = database;
  const byNumber = database.query((p: Bound<{ n: number }>) =>
    db
      .select()
      .from(run)
      .where(eq(run.n, p("n"))),
  );
  const setOutbox = database.command((p: Bound<{ n: number; outbox: readonly number[] }>) =>
    db
      .update(run)
      .set({ outbox: p("outbox") })
      .where(eq(run.n, p("n"))),
  );
  const taken = database.query((p: Bound<{ n: number; sessionKey: string }>) =>
    db
      .select({ seq: inbox.seq })
      .from(inbox)
      .where(and(eq(inbox.sessionKey, p("sessionKey")), eq(inbox.run, p("n"))))
      .orderBy(asc(inbox.seq)),
  );
  const made = database.query((p: Bound<{ n: number }>) =>
    db
      .select({ seq: outbox.seq })
      .from(outbox)
      .where(eq(outbox.run, p("n")))
      .orderBy(asc(outbox.seq)),
  );

  function repliesOf({ outbox: listed, n }: RunRecord): readonly number[] {
    return listed ?? made.all({ n }).map(({ seq }) => seq);
  }

  function byId(id: string): RunRecord | undefined {
    const n = rowOf(id);
    const row = n === undefined ? undefined : byNumber.get({ n });
    return row !== undefined && runIdOf(row) === id ? row : undefined;
  }

  return {
    record: (n) => byNumber.get({ n }),
    byId,
    running({ runId, lease }) {
      fence.check(lease);
      const record = byId(runId);
      if (record === undefined) throw new StoreError("not_found", `There is no run ${runId}.`);
      if (!isSameLease(lease, stampOf(record))) {
        const text = `Run ${runId} continues under lease "${record.leaseName}" of epoch ${record.leaseEpoch}.`;
        throw new FencedError(lease.name, lease.epoch, text);
      }
      if (record.state !== "running")
        throw new StoreError("conflict", `Run ${runId} has ended: ${record.state}.`);
      return record;
    },
    messagesOf: ({ inbox: listed, n, sessionKey }) =>
      listed ?? taken.all({ n, sessionKey }).map(({ seq }) => seq),
    repliesOf,
    addOutbox(record, added) {
      setOutbox.run({ n: record.n, outbox: withReplies(repliesOf(record), added) });
    },
    toRun(record) {
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
    },
  };
}
