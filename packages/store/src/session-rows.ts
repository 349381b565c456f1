import { eq } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound, Database } from "./database.ts";
import { StoreError } from "./errors.ts";
import { eachFigure } from "./figures.ts";
import { decodeIntact } from "./json.ts";
import { isSameLease } from "./lease-token.ts";
import type { Head } from "./messages.ts";
import { runIdOf, stampOf } from "./run-rows.ts";
import {
  type ActiveRunRecord,
  activeRun,
  minuteOf,
  type RunRecord,
  run,
  type SessionRecord,
  session,
} from "./schema/index.ts";
import type { JsonValue, LeaseToken } from "./types/common.ts";
import type { Session, SessionSeed } from "./types/sessions.ts";

/** A session and the run that holds it, if any. */
export interface SessionState {
  readonly record: SessionRecord;
  readonly active: ActiveRunRecord | undefined;
}

/** Session queries that several modules share. */
export interface SessionRows {
  load(key: string): SessionState | undefined;
  /** @throws StoreError `not_found` */
  mustLoad(key: string): SessionState;
  create(seed: SessionSeed, at: number): SessionRecord;
  head(state: SessionState): Head;
  saveHead(state: SessionState, head: Head): void;
  /** Assigns the session to a run. */
  hold(record: SessionRecord, n: number, head: Head): SessionState;
  release(key: string): void;
  /** @throws StoreError `busy` if a run holds the session. With `lease`, only if the run belongs to another lease. */
  requireFree(state: SessionState, lease?: LeaseToken): void;
  /** @param holding the run that holds the session, if the caller has already loaded it */
  toSession(state: SessionState, holding?: RunRecord): Session;
  /** Records activity in the session. `record` is the state before the activity. */
  touch(record: SessionRecord, at: number): void;
  /** Updates only the minute, for a row that already has its new time. */
  touchMinute(record: SessionRecord, at: number): void;
}

function toSession({ record, active }: SessionState, holding: RunRecord | undefined): Session {
  const head = active ?? record;
  return {
    key: record.key,
    agentId: record.agentId,
    channel: record.channel,
    account: record.account,
    peer: record.peer,
    kind: record.kind,
    title: record.title ?? undefined,
    model: record.model ?? undefined,
    thinking: record.thinking ?? undefined,
    queueMode: record.queueMode ?? undefined,
    data: record.data === null ? undefined : (decodeIntact<JsonValue>(record.data) ?? null),
    generation: record.generation,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    resetAt: record.resetAt ?? undefined,
    lastSeq: head.lastSeq,
    messageCount: head.messageCount,
    activeRun: holding === undefined ? undefined : runIdOf(holding),
    totals: { runs: record.runs, ...eachFigure((figure) => record[figure]) },
  };
}

function prepareStatements(database: Database) {
  const { db } = database;
  return {
    byKey: database.query((p: Bound<{ key: string }>) =>
      db
        .select()
        .from(session)
        .where(eq(session.key, p("key"))),
    ),
    activeIn: database.query((p: Bound<{ key: string }>) =>
      db
        .select()
        .from(activeRun)
        .where(eq(activeRun.sessionKey, p("key"))),
    ),
    runByNumber: database.query((p: Bound<{ n: number }>) =>
      db
        .select()
        .from(run)
        .where(eq(run.n, p("n"))),
    ),
    insert: database.insert(session),
    saveActiveHead: database.command((p: Bound<Head & { key: string }>) =>
      db
        .update(activeRun)
        .set({ lastEntry: p("lastEntry"), lastSeq: p("lastSeq"), messageCount: p("messageCount") })
        .where(eq(activeRun.sessionKey, p("key"))),
    ),
    saveIdleHead: database.command((p: Bound<Head & { key: string }>) =>
      db
        .update(session)
        .set({ lastEntry: p("lastEntry"), lastSeq: p("lastSeq"), messageCount: p("messageCount") })
        .where(eq(session.key, p("key"))),
    ),
    touch: database.command((p: Bound<{ key: string; at: number }>) =>
      db
        .update(session)
        .set({ updatedAt: p("at") })
        .where(eq(session.key, p("key"))),
    ),
    setMinute: database.command((p: Bound<{ key: string; minute: number }>) =>
      db
        .update(session)
        .set({ updatedMinute: p("minute") })
        .where(eq(session.key, p("key"))),
    ),
    // Replaces a row that refers to a run lost in a damaged file.
    hold: database.replace(activeRun, [activeRun.sessionKey]),
    release: database.command((p: Bound<{ key: string }>) =>
      db.delete(activeRun).where(eq(activeRun.sessionKey, p("key"))),
    ),
  };
}

export function createSessionRows({ database }: Context): SessionRows {
  const statements = prepareStatements(database);

  function load(key: string): SessionState | undefined {
    const record = statements.byKey.get({ key });
    return record === undefined ? undefined : { record, active: statements.activeIn.get({ key }) };
  }

  function mustLoad(key: string): SessionState {
    const state = load(key);
    if (state === undefined) throw new StoreError("not_found", `There is no session "${key}".`);
    return state;
  }

  function touchMinute({ key, updatedMinute }: SessionRecord, at: number): void {
    const minute = minuteOf(at);
    if (minute !== updatedMinute) statements.setMinute.run({ key, minute });
  }

  function holder({ active }: SessionState): RunRecord | undefined {
    return active === undefined ? undefined : statements.runByNumber.get({ n: active.run });
  }

  return {
    load,
    mustLoad,
    create(seed, at) {
      statements.insert.run({ ...seed, createdAt: at, updatedAt: at, updatedMinute: minuteOf(at) });
      return mustLoad(seed.key).record;
    },
    head: ({ record, active }) => active ?? record,
    saveHead({ record, active }, { lastEntry, lastSeq, messageCount }) {
      const save = active === undefined ? statements.saveIdleHead : statements.saveActiveHead;
      save.run({ key: record.key, lastEntry, lastSeq, messageCount });
    },
    hold(record, n, head) {
      const active = { sessionKey: record.key, run: n, ...head };
      statements.hold.run(active);
      return { record, active };
    },
    release(key) {
      statements.release.run({ key });
    },
    requireFree(state, lease) {
      const holding = holder(state);
      if (holding === undefined) return;
      if (isSameLease(lease, stampOf(holding))) return;
      throw new StoreError("busy", `Run ${runIdOf(holding)} holds session "${state.record.key}".`);
    },
    toSession: (state, holding = holder(state)) => toSession(state, holding),
    touch(record, at) {
      statements.touch.run({ key: record.key, at });
      touchMinute(record, at);
    },
    touchMinute,
  };
}
