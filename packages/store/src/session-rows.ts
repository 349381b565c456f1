import type { Context } from "./context.ts";
import { StoreError } from "./errors.ts";
import { decode } from "./json.ts";
import type { Head } from "./messages.ts";
import type { ActiveRunRecord, RunRecord, SessionRecord } from "./records.ts";
import type { JsonValue, LeaseToken } from "./types/common.ts";
import type { Session, SessionSeed } from "./types/sessions.ts";

/** A session, and the run that holds it. */
export interface Held {
  readonly record: SessionRecord;
  readonly active: ActiveRunRecord | undefined;
}

/** Reads and head writes of sessions that several parts need. */
export interface SessionRows {
  load(key: string): Held | undefined;
  /** Error `not_found`. */
  mustLoad(key: string): Held;
  create(seed: SessionSeed, at: number): SessionRecord;
  active(key: string): ActiveRunRecord | undefined;
  run(n: number): RunRecord | undefined;
  head(held: Held): Head;
  saveHead(held: Held, head: Head): void;
  /** @throws StoreError `busy` while a run holds the session; with `lease`, while one of another lease does */
  requireFree(held: Held, lease?: LeaseToken): void;
  toSession(held: Held): Session;
  touch(key: string, at: number): void;
}

export function createSessionRows({ database }: Context): SessionRows {
  const byKey = database.query<[string], SessionRecord>("SELECT * FROM session WHERE key = ?");
  const activeByKey = database.query<[string], ActiveRunRecord>(
    "SELECT * FROM active_run WHERE session_key = ?",
  );
  const runByNumber = database.query<[number], RunRecord>("SELECT * FROM run WHERE n = ?");
  const insert = database.command<
    [string, string, string, string, string, string, string | null, number, number]
  >(
    `INSERT INTO session (key, agent_id, channel, account, peer, kind, title, created_at, updated_at, generation,
       last_seq, message_count, floor_seq, runs, model_calls, input_tokens, output_tokens, cache_read_tokens,
       cache_write_tokens, cost_micros)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)`,
  );
  const saveActive = database.command<[number | null, number, number, string]>(
    "UPDATE active_run SET last_entry = ?, last_seq = ?, message_count = ? WHERE session_key = ?",
  );
  const saveIdle = database.command<[number | null, number, number, string]>(
    "UPDATE session SET last_entry = ?, last_seq = ?, message_count = ? WHERE key = ?",
  );
  const touch = database.command<[number, string]>("UPDATE session SET updated_at = ? WHERE key = ?");

  function load(key: string): Held | undefined {
    const record = byKey.get(key);
    return record === undefined ? undefined : { record, active: activeByKey.get(key) };
  }

  function mustLoad(key: string): Held {
    const held = load(key);
    if (held === undefined) throw new StoreError("not_found", `There is no session "${key}".`);
    return held;
  }

  return {
    load,
    mustLoad,
    create(seed, at) {
      const { key, agentId, channel, account, peer, kind, title } = seed;
      insert.run(key, agentId, channel, account, peer, kind, title ?? null, at, at);
      return mustLoad(key).record;
    },
    active: (key) => activeByKey.get(key),
    run: (n) => runByNumber.get(n),
    head: ({ record, active }) => active ?? record,
    saveHead({ record, active }, head) {
      const save = active === undefined ? saveIdle : saveActive;
      save.run(head.last_entry, head.last_seq, head.message_count, record.key);
    },
    requireFree({ record, active }, lease) {
      if (active === undefined) return;
      const run = runByNumber.get(active.run);
      if (lease !== undefined && run?.lease_name === lease.name && run.lease_epoch === lease.epoch) return;
      throw new StoreError("busy", `Run ${run?.id ?? active.run} holds session "${record.key}".`);
    },
    toSession({ record, active }) {
      const head = active ?? record;
      const run = active === undefined ? undefined : runByNumber.get(active.run);
      return {
        key: record.key,
        agentId: record.agent_id,
        channel: record.channel,
        account: record.account,
        peer: record.peer,
        kind: record.kind,
        ...(record.title === null ? {} : { title: record.title }),
        ...(record.model === null ? {} : { model: record.model }),
        ...(record.thinking === null ? {} : { thinking: record.thinking }),
        ...(record.data === null ? {} : { data: decode<JsonValue>(record.data) }),
        generation: record.generation,
        createdAt: record.created_at,
        updatedAt: record.updated_at,
        ...(record.reset_at === null ? {} : { resetAt: record.reset_at }),
        lastSeq: head.last_seq,
        messageCount: head.message_count,
        ...(run === undefined ? {} : { activeRun: run.id }),
        totals: {
          runs: record.runs,
          modelCalls: record.model_calls,
          inputTokens: record.input_tokens,
          outputTokens: record.output_tokens,
          cacheReadTokens: record.cache_read_tokens,
          cacheWriteTokens: record.cache_write_tokens,
          costMicros: record.cost_micros,
        },
      };
    },
    touch: (key, at) => {
      touch.run(at, key);
    },
  };
}
