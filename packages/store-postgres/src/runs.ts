import {
  checkModelUsage,
  checkUsage,
  encode,
  encodeOptional,
  prepareIntents,
  prepareOutbox,
  ROW_FORMAT,
  WRITTEN_FORMAT,
} from "@signalbox/store/backend";
import type { Bodies, LeaseToken, OutboxRow, Run, RunBegun, RunStore } from "@signalbox/store/types";
import { and, eq, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Fence } from "./leases.ts";
import { appendMessages } from "./messages.ts";
import type { ReadOutbox } from "./outbox-insert.ts";
import { reserveNumbers } from "./row-numbers.ts";
import {
  checkHolders,
  endMessages,
  lockMessages,
  lockMessagesOfRun,
  takeable,
  takeMessages,
} from "./run-messages.ts";
import { createRunReads } from "./run-reads.ts";
import { lockRun, lockRunning, toRun, withReplies } from "./run-rows.ts";
import { addUsageOfDay, forgetTold, sumsWith } from "./run-writes.ts";
import { type RunRecord, run, session } from "./schema/index.ts";
import {
  activityAt,
  createSession,
  lockSessionOfRun,
  mustLockSession,
  type SessionState,
  toSession,
  updateSession,
} from "./session-rows.ts";
import { addCalls, markCalls, readCallIds } from "./tool-calls.ts";
import type { Transaction } from "./transaction.ts";

type Input<Name extends keyof RunStore<Bodies>, T extends Bodies> = Parameters<RunStore<T>[Name]>[0];

/** Dependencies of run transactions. */
interface RunWork<T extends Bodies> extends Context {
  readonly fence: Fence;
  readonly readOutbox: ReadOutbox<T>;
}

export function createRunStore<T extends Bodies>(
  context: Context,
  fence: Fence,
  readOutbox: ReadOutbox<T>,
): RunStore<T> {
  const work: RunWork<T> = { ...context, fence, readOutbox };
  return {
    ...createRunReads<T>(context, fence),
    begin: async (input) => begin(work, input),
    step: async (input) => step(work, input),
    toolStarted: async (input) => toolStarted(work, input),
    toolResults: async (input) => toolResults(work, input),
    finish: async (input) => finish(work, input),
    adopt: (input) => adopt(work, input),
    rest: (lease) => rest(work, lease),
    wait: (input) => wait(work, input),
  };
}

const orderOf = ({ runId }: { readonly runId: string }): string => `run ${runId}`;

function begin<T extends Bodies>(
  { database, nonce, fence }: RunWork<T>,
  { session: seed, lease, inboxIds, userMessages, sender = "", meta }: Input<"begin", T>,
): Promise<RunBegun> {
  const bodies = encodedBodies(userMessages);
  const metaText = encodeOptional(meta, "The meta of a run");
  return database.write(async (tx): Promise<RunBegun> => {
    createSession(tx, database, seed);
    const [, state, messages, [n = 0], at] = await Promise.all([
      fence.check(tx, lease),
      mustLockSession(tx, seed.key),
      lockMessages(tx, inboxIds),
      reserveNumbers(tx, "run", 1),
      tx.now,
      checkHolders(tx, fence, inboxIds, lease),
    ]);
    if (state.holding !== undefined) return { outcome: "busy", run: toRun(state.holding) };
    const taken = takeable(messages, inboxIds, seed.key);
    const record: RunRecord = {
      n,
      nonce: nonce(at),
      sessionKey: seed.key,
      agentId: seed.agentId,
      sender,
      generation: state.record.generation,
      state: "running",
      leaseName: lease.name,
      leaseEpoch: lease.epoch,
      attempts: 1,
      meta: metaText,
      error: null,
      inbox: taken,
      outbox: [],
      startedAt: at,
      finishedAt: null,
      format: WRITTEN_FORMAT,
      ...NO_USAGE,
    };
    tx.send(tx.db.insert(run).values(record));
    takeMessages(tx, taken, n);
    const head = appendMessages(tx, state.record, placeOf(record, at), bodies);
    const held = updateSession(tx, state, { ...head, activeRun: n });
    return {
      outcome: "started",
      run: toRun(record),
      session: toSession({ record: held.record, holding: record }),
    };
  }, `session ${seed.key}`);
}

const NO_USAGE = checkUsage({}).reported;

function step<T extends Bodies>(
  { database, fence }: RunWork<T>,
  { messages: said, intents, inboxIds = [], ...write }: Input<"step", T>,
): Promise<void> {
  const bodies = encodedBodies(said);
  const prepared = prepareIntents(intents);
  return database.write(async (tx) => {
    const [record, state, messages, at] = await Promise.all([
      lockRunning(tx, fence, write),
      lockSessionOfRun(tx, write.runId),
      lockMessages(tx, inboxIds),
      tx.now,
      checkHolders(tx, fence, inboxIds, write.lease),
    ]);
    const taken = takeable(messages, inboxIds, record.sessionKey);
    takeMessages(tx, taken, record.n);
    if (taken.length > 0) updateRun(tx, record, { inbox: [...record.inbox, ...taken] });
    addCalls(tx, record, prepared);
    append(tx, record, state, bodies, at);
  }, orderOf(write));
}

function toolStarted<T extends Bodies>(
  { database, fence }: RunWork<T>,
  { callIds, messages: said, intents, ...write }: Input<"toolStarted", T>,
): Promise<void> {
  const bodies = encodedBodies(said);
  const prepared = prepareIntents(intents);
  return database.write(async (tx) => {
    const [record, state, recorded, at] = await Promise.all([
      lockRunning(tx, fence, write),
      lockSessionOfRun(tx, write.runId),
      readCallIds(tx, write.runId),
      tx.now,
    ]);
    addCalls(tx, record, prepared);
    append(tx, record, state, bodies, at);
    const added = prepared.map(({ intent }) => intent.callId);
    markCalls(tx, record, new Set([...recorded, ...added]), callIds, "started");
  }, orderOf(write));
}

function toolResults<T extends Bodies>(
  { database, fence }: RunWork<T>,
  { callIds, messages: results, ...write }: Input<"toolResults", T>,
): Promise<void> {
  const bodies = encodedBodies(results);
  return database.write(async (tx) => {
    const [record, state, recorded, at] = await Promise.all([
      lockRunning(tx, fence, write),
      lockSessionOfRun(tx, write.runId),
      readCallIds(tx, write.runId),
      tx.now,
    ]);
    append(tx, record, state, bodies, at);
    markCalls(tx, record, recorded, callIds, "done");
  }, orderOf(write));
}

function finish<T extends Bodies>(
  { database, fence, readOutbox }: RunWork<T>,
  {
    outcome,
    inbox: settles,
    messages: last,
    outbox: inserts,
    told,
    usage,
    models,
    error,
    ...write
  }: Input<"finish", T>,
): Promise<readonly OutboxRow<T["outbound"]>[]> {
  const bodies = encodedBodies(last);
  const prepared = prepareOutbox(inserts ?? []);
  const { reported, counted } = checkUsage(usage ?? {});
  const usedByModel = checkModelUsage(models ?? []);
  return database.write(async (tx) => {
    const [record, state, messages, writeOutbox, at] = await Promise.all([
      lockRunning(tx, fence, write),
      lockSessionOfRun(tx, write.runId),
      lockMessagesOfRun(tx, write.runId),
      readOutbox(tx, prepared),
      tx.now,
    ]);
    const { sessionKey } = record;
    endMessages(tx, record, messages, settles, at);
    const head = appendMessages(tx, state.record, placeOf(record, at), bodies);
    const origin = { lease: write.lease, run: record, sessionKey, place: record.outbox.length };
    const added = writeOutbox(prepared, origin, at);
    forgetTold(tx, told ?? []);
    updateRun(tx, record, {
      state: outcome,
      error: error ?? null,
      outbox: withReplies(record.outbox, added),
      finishedAt: at,
      ...reported,
    });
    addUsageOfDay(tx, record, counted, usedByModel, at);
    const ended = { ...head, ...activityAt(at), activeRun: null, ...sumsWith(counted) };
    tx.send(tx.db.update(session).set(ended).where(eq(session.key, sessionKey)));
    return added.map(({ row }) => row);
  }, orderOf(write));
}

function adopt<T extends Bodies>(
  { database, fence }: RunWork<T>,
  { runId, lease, counts = true }: Input<"adopt", T>,
): Promise<Run | undefined> {
  return database.write(async (tx) => {
    const [, record] = await Promise.all([fence.check(tx, lease), lockRun(tx, runId)]);
    if (record?.state !== "running" || record.format > ROW_FORMAT) return undefined;
    const stamp = { leaseName: lease.name, leaseEpoch: lease.epoch };
    const more = counts ? 1 : 0;
    const [adopted] = await tx.db
      .update(run)
      .set({ ...stamp, attempts: record.attempts + more })
      .where(and(eq(run.n, record.n), fence.isLost(run)))
      .returning();
    return adopted === undefined ? undefined : toRun(adopted);
  }, `run ${runId}`);
}

function rest<T extends Bodies>({ database, fence }: RunWork<T>, lease: LeaseToken): Promise<void> {
  return database.write(async (tx) => {
    await fence.check(tx, lease);
    const isOwn = and(
      eq(run.state, "running"),
      eq(run.leaseName, lease.name),
      eq(run.leaseEpoch, lease.epoch),
    );
    const released = { leaseName: "", leaseEpoch: 0, attempts: sql`${run.attempts} - 1` };
    tx.send(tx.db.update(run).set(released).where(isOwn));
  });
}

function wait<T extends Bodies>(
  { database, fence }: RunWork<T>,
  { waiting, ...write }: Input<"wait", T>,
): Promise<void> {
  return database.write(async (tx) => {
    const record = await lockRunning(tx, fence, write);
    updateRun(tx, record, { attempts: record.attempts + (waiting ? -1 : 1) });
  }, orderOf(write));
}

function encodedBodies(messages: readonly unknown[] | undefined): string[] {
  return (messages ?? []).map((message) => encode(message, "A message"));
}

/** Changes a run that is locked. */
function updateRun({ db, send }: Transaction, { n }: RunRecord, changes: Partial<RunRecord>): void {
  send(db.update(run).set(changes).where(eq(run.n, n)));
}

function append(
  tx: Transaction,
  record: RunRecord,
  state: SessionState,
  bodies: readonly string[],
  at: number,
): void {
  if (bodies.length > 0)
    updateSession(tx, state, appendMessages(tx, state.record, placeOf(record, at), bodies));
}

const placeOf = ({ sessionKey, generation, n }: RunRecord, at: number) => ({
  sessionKey,
  generation,
  run: n,
  at,
});
