import type { Context } from "./context.ts";
import { FencedError, StoreError } from "./errors.ts";
import { rowOf } from "./ids.ts";
import { decode } from "./json.ts";
import type { Fence } from "./leases.ts";
import type { RunRecord } from "./records.ts";
import type { JsonValue } from "./types/common.ts";
import type { OutboxRow } from "./types/outbox.ts";
import type { Run, RunUsage, RunWrite } from "./types/runs.ts";

/** Reads and checks of runs that several parts need. */
export interface RunRows {
  record(n: number): RunRecord | undefined;
  byId(id: string): RunRecord | undefined;
  /**
   * The run, when this lease may write in it.
   *
   * @throws FencedError when the lease or the run's stamp is of another epoch; StoreError `not_found`, `conflict`
   */
  running(write: RunWrite): RunRecord;
  inboxOf(run: RunRecord): number[];
  outboxOf(run: RunRecord): number[];
  addOutbox(run: RunRecord, rows: readonly OutboxRow[]): void;
  toRun(record: RunRecord): Run;
}

function toUsage(row: RunRecord): RunUsage | undefined {
  const usage: RunUsage = {
    ...(row.model_calls === null ? {} : { modelCalls: row.model_calls }),
    ...(row.input_tokens === null ? {} : { inputTokens: row.input_tokens }),
    ...(row.output_tokens === null ? {} : { outputTokens: row.output_tokens }),
    ...(row.cache_read_tokens === null ? {} : { cacheReadTokens: row.cache_read_tokens }),
    ...(row.cache_write_tokens === null ? {} : { cacheWriteTokens: row.cache_write_tokens }),
    ...(row.cost_micros === null ? {} : { costMicros: row.cost_micros }),
  };
  return Object.keys(usage).length === 0 ? undefined : usage;
}

/** The row numbers in a list of ids, as JSON text. */
function seqList(ids: readonly string[]): number[] {
  return ids.flatMap((id) => rowOf(id) ?? []);
}

export function createRunRows({ database }: Context, fence: Fence): RunRows {
  const byNumber = database.query<[number], RunRecord>("SELECT * FROM run WHERE n = ?");
  const setOutbox = database.command<[string, number]>("UPDATE run SET outbox = ? WHERE n = ?");

  function byId(id: string): RunRecord | undefined {
    const n = rowOf(id);
    const row = n === undefined ? undefined : byNumber.get(n);
    return row?.id === id ? row : undefined;
  }

  return {
    record: (n) => byNumber.get(n),
    byId,
    running({ runId, lease }) {
      fence.check(lease);
      const run = byId(runId);
      if (run === undefined) throw new StoreError("not_found", `There is no run ${runId}.`);
      if (run.lease_name !== lease.name || run.lease_epoch !== lease.epoch) {
        const text = `Run ${runId} goes on under lease "${run.lease_name}" of epoch ${run.lease_epoch}.`;
        throw new FencedError(lease.name, lease.epoch, text);
      }
      if (run.state !== "running") throw new StoreError("conflict", `Run ${runId} has ended: ${run.state}.`);
      return run;
    },
    inboxOf: (run) => decode<number[]>(run.inbox),
    outboxOf: (run) => decode<number[]>(run.outbox),
    addOutbox(run, rows) {
      const all = new Set([...decode<number[]>(run.outbox), ...seqList(rows.map((row) => row.id))]);
      setOutbox.run(JSON.stringify([...all]), run.n);
    },
    toRun(row) {
      const usage = toUsage(row);
      return {
        id: row.id,
        sessionKey: row.session_key,
        agentId: row.agent_id,
        generation: row.generation,
        state: row.state,
        lease: { name: row.lease_name, epoch: row.lease_epoch },
        attempts: row.attempts,
        ...(row.meta === null ? {} : { meta: decode<JsonValue>(row.meta) }),
        ...(row.error === null ? {} : { error: row.error }),
        ...(usage === undefined ? {} : { usage }),
        startedAt: row.started_at,
        ...(row.finished_at === null ? {} : { finishedAt: row.finished_at }),
      };
    },
  };
}
