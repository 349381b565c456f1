import type { Context } from "./context.ts";
import { FencedError, StoreError } from "./errors.ts";
import { checkModelUsage, checkUsage, dayOf } from "./figures.ts";
import { damage, type InboxRows } from "./inbox-rows.ts";
import { encode, encodeOptional } from "./json.ts";
import { isSameLease } from "./lease-token.ts";
import type { Fence } from "./leases.ts";
import type { Head, MessageChain } from "./messages.ts";
import type { InsertOutbox } from "./outbox-insert.ts";
import { prepareOutbox } from "./outbox-prepare.ts";
import { createRunReads } from "./run-reads.ts";
import { type RunRows, runIdOf, stampOf, withReplies } from "./run-rows.ts";
import { prepareRunStatements, type RunStatements } from "./run-statements.ts";
import type { InboxRecord, RunRecord } from "./schema/index.ts";
import type { SessionRows, SessionState } from "./session-rows.ts";
import type { ToolCalls } from "./tool-calls.ts";
import { prepareIntents } from "./tool-intents.ts";
import type { Bodies, InboxId, LeaseToken } from "./types/common.ts";
import type { InboxSettle } from "./types/inbox.ts";
import type { OutboxRow } from "./types/outbox.ts";
import type { Run, RunBegun, RunStore } from "./types/runs.ts";

interface Parts<T extends Bodies> {
  readonly fence: Fence;
  readonly inbox: InboxRows<T>;
  readonly sessions: SessionRows;
  readonly chain: MessageChain<T>;
  readonly calls: ToolCalls;
  readonly insertOutbox: InsertOutbox<T>;
  readonly rows: RunRows;
}

/** Dependencies of run transactions. */
interface RunWork<T extends Bodies> extends Context, Parts<T> {
  readonly statements: RunStatements;
}

type Input<Name extends keyof RunStore<Bodies>, T extends Bodies> = Parameters<RunStore<T>[Name]>[0];

export function createRunStore<T extends Bodies>(context: Context, parts: Parts<T>): RunStore<T> {
  const work: RunWork<T> = { ...context, ...parts, statements: prepareRunStatements(context.database) };
  return {
    ...createRunReads(context, parts),
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

function begin<T extends Bodies>(
  work: RunWork<T>,
  { session: seed, lease, inboxIds, userMessages, sender = "", meta }: Input<"begin", T>,
): Promise<RunBegun> {
  const { queue, fence, sessions, rows, chain, statements, now, nonce } = work;
  const bodies = encodedBodies(userMessages);
  const metaText = encodeOptional(meta, "The meta of a run");
  return queue.write((): RunBegun => {
    fence.check(lease);
    const before = sessions.load(seed.key);
    const holder = before?.active === undefined ? undefined : rows.record(before.active.run);
    if (holder !== undefined) return { outcome: "busy", run: rows.toRun(holder) };

    const taken = takeable(work, inboxIds, seed.key, lease);
    const at = now();
    const record = before?.record ?? sessions.create(seed, at);
    const n = statements.insert.run({
      nonce: nonce(at),
      sessionKey: seed.key,
      agentId: seed.agentId,
      sender,
      generation: record.generation,
      state: "running",
      leaseName: lease.name,
      leaseEpoch: lease.epoch,
      attempts: 1,
      meta: metaText,
      inbox: taken,
      prevRun: record.lastRun,
      startedAt: at,
    }).rowNumber;
    for (const seq of taken) statements.join.run({ seq, run: n });
    const to = { sessionKey: seed.key, generation: record.generation, run: n, at };
    const state = sessions.hold(record, n, chain.append(record, to, bodies));
    const begun = rows.record(n);
    if (begun === undefined) throw new StoreError("io", `Run ${n} is gone after its insert.`);
    return { outcome: "started", run: rows.toRun(begun), session: sessions.toSession(state, begun) };
    // Not synced: nothing of a run is visible outside the store until a later step is synced. If this write is lost,
    // the messages are still queued.
  }, "unsynced");
}

function step<T extends Bodies>(
  work: RunWork<T>,
  { messages: said, intents, inboxIds, ...write }: Input<"step", T>,
): Promise<void> {
  const { rows, calls, statements } = work;
  const bodies = encodedBodies(said);
  const prepared = prepareIntents(intents);
  return work.queue.write(() => {
    const record = rows.running(write);
    const taken = takeable(work, inboxIds ?? [], record.sessionKey, write.lease);
    const before = rows.messagesOf(record);
    for (const seq of taken) statements.join.run({ seq, run: record.n });
    if (taken.length > 0) statements.setInbox.run({ n: record.n, inbox: [...before, ...taken] });
    calls.add(record, prepared);
    append(work, record, bodies);
  });
}

function toolStarted<T extends Bodies>(
  work: RunWork<T>,
  { callIds, messages: said, intents, ...write }: Input<"toolStarted", T>,
): Promise<void> {
  const { rows, calls } = work;
  const bodies = encodedBodies(said);
  const prepared = prepareIntents(intents);
  return work.queue.write(() => {
    const record = rows.running(write);
    calls.add(record, prepared);
    calls.mark(record, callIds, "started");
    append(work, record, bodies);
  });
}

function toolResults<T extends Bodies>(
  work: RunWork<T>,
  { callIds, messages: results, ...write }: Input<"toolResults", T>,
): Promise<void> {
  const bodies = encodedBodies(results);
  return work.queue.write(() => {
    const record = work.rows.running(write);
    work.calls.mark(record, callIds, "done");
    append(work, record, bodies);
  });
}

function finish<T extends Bodies>(
  work: RunWork<T>,
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
  const { rows, sessions, insertOutbox, statements, now } = work;
  const bodies = encodedBodies(last);
  const prepared = prepareOutbox(inserts ?? []);
  const used = checkUsage(usage ?? {});
  const usedByModel = checkModelUsage(models ?? []);
  return work.queue.write(() => {
    const record = rows.running(write);
    const { n, sessionKey } = record;
    endMessages(work, record, settles);
    const state = sessions.mustLoad(sessionKey);
    const head = appendTo(work, record, state, bodies);
    const replies = rows.repliesOf(record);
    const origin = { lease: write.lease, run: record, sessionKey, place: replies.length };
    const added = insertOutbox(prepared, origin);
    for (const { conversation, id } of told ?? []) statements.forgetTold.run({ conversation, entryId: id });
    const at = now();
    statements.end.run({
      n,
      state: outcome,
      error: error ?? null,
      lastEntry: head.lastEntry,
      at,
      ...used.reported,
      outbox: withReplies(replies, added),
    });
    const { agentId, sender } = record;
    const place = { day: dayOf(at), agentId, sessionKey, sender };
    statements.addUsage.run({ ...place, runs: 1, ...used.counted });
    for (const ofModel of usedByModel) statements.addModelUsage.run({ ...place, ...ofModel });
    statements.closeSession.run({ key: sessionKey, run: n, at, ...head, ...used.counted });
    sessions.touchMinute(state.record, at);
    sessions.release(sessionKey);
    return added.map(({ row }) => row);
  });
}

function adopt<T extends Bodies>(
  { queue, fence, rows, statements }: RunWork<T>,
  { runId, lease, counts = true }: Input<"adopt", T>,
): Promise<Run | undefined> {
  return queue.write(() => {
    fence.check(lease);
    const record = rows.byId(runId);
    if (record === undefined || record.state !== "running" || !fence.lost(stampOf(record))) return undefined;
    const more = counts ? 1 : 0;
    statements.takeOver.run({ n: record.n, leaseName: lease.name, leaseEpoch: lease.epoch, more });
    const adopted = rows.record(record.n);
    return adopted === undefined ? undefined : rows.toRun(adopted);
  });
}

function rest<T extends Bodies>({ queue, fence, statements }: RunWork<T>, lease: LeaseToken): Promise<void> {
  return queue.write(() => {
    fence.check(lease);
    statements.rest.run({ leaseName: lease.name, leaseEpoch: lease.epoch });
  });
}

function wait<T extends Bodies>(
  { queue, rows, statements }: RunWork<T>,
  { waiting, ...write }: Input<"wait", T>,
): Promise<void> {
  return queue.write(() => {
    statements.addAttempts.run({ n: rows.running(write).n, more: waiting ? -1 : 1 });
  });
}

function encodedBodies(messages: readonly unknown[] | undefined): string[] {
  return (messages ?? []).map((message) => encode(message, "A message"));
}

/**
 * Returns the row numbers of this session's queued messages.
 *
 * @throws FencedError if another holder has claimed a message
 * @throws StoreError `not_found`, `conflict`
 */
function takeable<T extends Bodies>(
  { inbox: messages, fence }: RunWork<T>,
  ids: readonly InboxId[],
  sessionKey: string,
  lease: LeaseToken,
): number[] {
  return ids.map((id) => {
    const row = messages.byId(id);
    if (row === undefined) throw new StoreError("not_found", `There is no inbox message ${id}.`);
    const held = { name: row.leaseName, epoch: row.leaseEpoch };
    if (row.state === "queued" && !isSameLease(held, lease) && !fence.lost(held)) {
      const text = `Inbox message ${id} waits under the lease "${held.name}" of epoch ${held.epoch}.`;
      throw new FencedError(lease.name, lease.epoch, text);
    }
    if (row.state === "queued" && row.sessionKey === sessionKey) return row.seq;
    const where = row.sessionKey === null ? "without a session" : `in session "${row.sessionKey}"`;
    throw new StoreError(
      "conflict",
      `Inbox message ${id} is ${row.state} ${where}: no run of "${sessionKey}" can take it.`,
    );
  });
}

function appendTo<T extends Bodies>(
  { chain, sessions, now }: RunWork<T>,
  { sessionKey, generation, n }: RunRecord,
  state: SessionState,
  bodies: readonly string[],
): Head {
  return chain.append(sessions.head(state), { sessionKey, generation, run: n, at: now() }, bodies);
}

function append<T extends Bodies>(work: RunWork<T>, record: RunRecord, bodies: readonly string[]): void {
  if (bodies.length === 0) return;
  const state = work.sessions.mustLoad(record.sessionKey);
  work.sessions.saveHead(state, appendTo(work, record, state, bodies));
}

/** Ends every message of a run, including damaged ones. Ignores messages that no longer exist. */
function endMessages<T extends Bodies>(
  work: RunWork<T>,
  record: RunRecord,
  settles: readonly InboxSettle[],
): void {
  const { inbox: messages, rows } = work;
  const open = new Set(rows.messagesOf(record));
  for (const to of settles) {
    const row = messages.byId(to.id);
    if (row === undefined || row.run !== record.n || !open.delete(row.seq)) {
      const text = `Inbox message ${to.id} does not belong to run ${runIdOf(record)}.`;
      throw new StoreError("conflict", text);
    }
    endMessage(work, row, to);
  }
  for (const seq of open) {
    const row = messages.record(seq);
    if (row === undefined) continue;
    if (messages.event(row) !== undefined) {
      const text = `Run ${runIdOf(record)} would end and leave ${open.size} of its messages without an end.`;
      throw new StoreError("conflict", text);
    }
    messages.end({ seq, state: "failed-reported", ...damage });
  }
}

function endMessage<T extends Bodies>(
  { inbox: messages, statements }: RunWork<T>,
  { seq, rule, reason }: InboxRecord,
  { state, detail }: InboxSettle,
): void {
  // The message was withdrawn during the run.
  if (rule !== null) messages.end({ seq, state: "ignored", rule, reason });
  else if (state === "queued") statements.giveBack.run({ seq });
  else messages.end({ seq, state, rule: detail?.rule ?? null, reason: detail?.reason ?? null });
}
