import { and, eq, inArray, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { StoreError } from "./errors.ts";
import { damage, type InboxRows } from "./inbox-rows.ts";
import { encode, encodeOptional } from "./json.ts";
import type { Fence } from "./leases.ts";
import type { Head, MessageChain } from "./messages.ts";
import { type OutboxRows, prepareOutbox } from "./outbox-rows.ts";
import { createRunReads } from "./run-reads.ts";
import { type RunRows, runIdOf, stampOf, withReplies } from "./run-rows.ts";
import {
  activeRun,
  groupHistory,
  type InboxRecord,
  inbox,
  type RunRecord,
  run,
  session,
} from "./schema/index.ts";
import type { SessionRows, SessionState } from "./session-rows.ts";
import { prepareIntents, type ToolCalls } from "./tool-calls.ts";
import type { Bodies, InboxId, LeaseToken } from "./types/common.ts";
import type { InboxSettle } from "./types/inbox.ts";
import type { RunBegun, RunOutcome, RunStore } from "./types/runs.ts";
import { type CheckedUsage, checkUsage } from "./usage.ts";

interface Parts<T extends Bodies> {
  readonly fence: Fence;
  readonly inbox: InboxRows<T>;
  readonly sessions: SessionRows;
  readonly chain: MessageChain<T>;
  readonly calls: ToolCalls;
  readonly outbox: OutboxRows<T>;
  readonly rows: RunRows;
}

export function createRunStore<T extends Bodies>(context: Context, parts: Parts<T>): RunStore<T> {
  const { database, queue, now, nonce } = context;
  const { fence, inbox: messages, sessions, chain, calls, outbox, rows } = parts;
  const { db } = database;
  const insert = database.insert(run);
  const setInbox = database.command((p: Bound<{ n: number; inbox: readonly number[] }>) =>
    db.update(run).set({ inbox: p.inbox }).where(eq(run.n, p.n)),
  );
  const join = database.command((p: Bound<{ seq: number; run: number }>) =>
    db.update(inbox).set({ state: "running", run: p.run }).where(eq(inbox.seq, p.seq)),
  );
  const giveBack = database.command((p: Bound<{ seq: number }>) =>
    db.update(inbox).set({ state: "queued", run: null }).where(eq(inbox.seq, p.seq)),
  );
  const end = database.command(
    (
      p: Bound<
        CheckedUsage["reported"] & {
          n: number;
          state: RunOutcome;
          error: string | null;
          lastEntry: number | null;
          outbox: readonly number[];
          at: number;
        }
      >,
    ) =>
      db
        .update(run)
        .set({
          state: p.state,
          error: p.error,
          lastEntry: p.lastEntry,
          outbox: p.outbox,
          finishedAt: p.at,
          modelCalls: p.modelCalls,
          inputTokens: p.inputTokens,
          outputTokens: p.outputTokens,
          cacheReadTokens: p.cacheReadTokens,
          cacheWriteTokens: p.cacheWriteTokens,
          costMicros: p.costMicros,
        })
        .where(eq(run.n, p.n)),
  );
  const closeSession = database.command(
    (p: Bound<CheckedUsage["counted"] & Head & { key: string; run: number; at: number }>) =>
      db
        .update(session)
        .set({
          updatedAt: p.at,
          lastEntry: p.lastEntry,
          lastSeq: p.lastSeq,
          messageCount: p.messageCount,
          lastRun: p.run,
          runs: sql`${session.runs} + 1`,
          modelCalls: sql`${session.modelCalls} + ${p.modelCalls}`,
          inputTokens: sql`${session.inputTokens} + ${p.inputTokens}`,
          outputTokens: sql`${session.outputTokens} + ${p.outputTokens}`,
          cacheReadTokens: sql`${session.cacheReadTokens} + ${p.cacheReadTokens}`,
          cacheWriteTokens: sql`${session.cacheWriteTokens} + ${p.cacheWriteTokens}`,
          costMicros: sql`${session.costMicros} + ${p.costMicros}`,
        })
        .where(eq(session.key, p.key)),
  );
  const takeOver = database.command((p: Bound<{ n: number; leaseName: string; leaseEpoch: number }>) =>
    db
      .update(run)
      .set({ leaseName: p.leaseName, leaseEpoch: p.leaseEpoch, attempts: sql`${run.attempts} + 1` })
      .where(eq(run.n, p.n)),
  );
  const rest = database.command((p: Bound<{ leaseName: string; leaseEpoch: number }>) =>
    db
      .update(run)
      .set({ leaseName: "", leaseEpoch: 0, attempts: sql`${run.attempts} - 1` })
      .where(
        and(
          inArray(run.n, db.select({ n: activeRun.run }).from(activeRun)),
          eq(run.leaseName, p.leaseName),
          eq(run.leaseEpoch, p.leaseEpoch),
        ),
      ),
  );
  const addAttempts = database.command((p: Bound<{ n: number; more: number }>) =>
    db
      .update(run)
      .set({ attempts: sql`${run.attempts} + ${p.more}` })
      .where(eq(run.n, p.n)),
  );
  const forgetTold = database.command((p: Bound<{ conversation: string; entryId: string }>) =>
    db
      .delete(groupHistory)
      .where(and(eq(groupHistory.conversation, p.conversation), eq(groupHistory.entryId, p.entryId))),
  );

  const bodiesOf = (bodies: readonly T["message"][] | undefined) =>
    (bodies ?? []).map((message) => encode(message, "A message"));

  /** The queued messages a run is to take, each of its session. */
  function takeable(ids: readonly InboxId[], sessionKey: string): number[] {
    return ids.map((id) => {
      const row = messages.byId(id);
      if (row === undefined) throw new StoreError("not_found", `There is no inbox message ${id}.`);
      if (row.state === "queued" && row.sessionKey === sessionKey) return row.seq;
      const where = row.sessionKey === null ? "without a session" : `in session "${row.sessionKey}"`;
      throw new StoreError(
        "conflict",
        `Inbox message ${id} is ${row.state} ${where}: no run of "${sessionKey}" can take it.`,
      );
    });
  }

  function appendTo(record: RunRecord, state: SessionState, bodies: readonly string[]): Head {
    const to = { sessionKey: record.sessionKey, generation: record.generation, run: record.n, at: now() };
    return chain.append(sessions.head(state), to, bodies);
  }

  function append(record: RunRecord, bodies: readonly string[]): void {
    if (bodies.length === 0) return;
    const state = sessions.mustLoad(record.sessionKey);
    sessions.saveHead(state, appendTo(record, state, bodies));
  }

  /** Gives each message of a run its end; those that have theirs are left alone. */
  function endMessages(record: RunRecord, settles: readonly InboxSettle[]): void {
    const open = new Set(record.inbox);
    for (const to of settles) {
      const row = messages.byId(to.id);
      if (row === undefined || row.run !== record.n || !open.delete(row.seq)) {
        const text = `Inbox message ${to.id} does not belong to run ${runIdOf(record)}.`;
        throw new StoreError("conflict", text);
      }
      endMessage(row, to);
    }
    for (const seq of open) {
      const row = messages.record(seq);
      if (row === undefined || !messages.isDamaged(row)) {
        const text = `Run ${runIdOf(record)} would end and leave ${open.size} of its messages without an end.`;
        throw new StoreError("conflict", text);
      }
      messages.end({ seq, state: "failed-reported", ...damage });
    }
  }

  function endMessage({ seq, rule, reason }: InboxRecord, { state, detail }: InboxSettle): void {
    // It was withdrawn while the run had it.
    if (rule !== null) messages.end({ seq, state: "ignored", rule, reason });
    else if (state === "queued") giveBack.run({ seq });
    else messages.end({ seq, state, rule: detail?.rule ?? null, reason: detail?.reason ?? null });
  }

  return {
    ...createRunReads(context, parts),

    async begin({ session: seed, lease, inboxIds, userMessages, sender = "", meta }) {
      const bodies = bodiesOf(userMessages);
      const metaText = encodeOptional(meta, "The meta of a run");
      return queue.write((): RunBegun => {
        fence.check(lease);
        const before = sessions.load(seed.key);
        const holder = before?.active === undefined ? undefined : rows.record(before.active.run);
        if (holder !== undefined) return { outcome: "busy", run: rows.toRun(holder) };

        const taken = takeable(inboxIds, seed.key);
        const at = now();
        const record = before?.record ?? sessions.create(seed, at);
        const n = insert.run({
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
        for (const seq of taken) join.run({ seq, run: n });
        const to = { sessionKey: seed.key, generation: record.generation, run: n, at };
        const state = sessions.hold(record, n, chain.append(record, to, bodies));
        const begun = rows.record(n);
        if (begun === undefined) throw new StoreError("io", `Run ${n} is gone after its insert.`);
        return { outcome: "started", run: rows.toRun(begun), session: sessions.toSession(state, begun) };
      });
    },

    async step({ messages: said, intents, inboxIds, ...write }) {
      const bodies = bodiesOf(said);
      const prepared = prepareIntents(intents);
      return queue.write(() => {
        const record = rows.running(write);
        const taken = takeable(inboxIds ?? [], record.sessionKey);
        for (const seq of taken) join.run({ seq, run: record.n });
        if (taken.length > 0) setInbox.run({ n: record.n, inbox: [...record.inbox, ...taken] });
        calls.add(record, prepared);
        append(record, bodies);
      });
    },

    async toolStarted({ callIds, messages: said, intents, ...write }) {
      const bodies = bodiesOf(said);
      const prepared = prepareIntents(intents);
      return queue.write(() => {
        const record = rows.running(write);
        calls.add(record, prepared);
        calls.mark(record, callIds, "started");
        append(record, bodies);
      });
    },

    async toolResults({ callIds, messages: results, ...write }) {
      const bodies = bodiesOf(results);
      return queue.write(() => {
        const record = rows.running(write);
        calls.mark(record, callIds, "done");
        append(record, bodies);
      });
    },

    async finish({ outcome, inbox: settles, messages: last, outbox: replies, told, usage, error, ...write }) {
      const bodies = bodiesOf(last);
      const prepared = prepareOutbox(replies ?? []);
      const used = checkUsage(usage ?? {});
      return queue.write(() => {
        const record = rows.running(write);
        const { n, sessionKey } = record;
        endMessages(record, settles);
        const state = sessions.mustLoad(sessionKey);
        const head = appendTo(record, state, bodies);
        const place = record.outbox.length;
        const added = outbox.insert(prepared, { lease: write.lease, run: record, sessionKey, place });
        for (const { conversation, id } of told ?? []) forgetTold.run({ conversation, entryId: id });
        const at = now();
        end.run({
          n,
          state: outcome,
          error: error ?? null,
          lastEntry: head.lastEntry,
          at,
          ...used.reported,
          outbox: withReplies(record, added),
        });
        closeSession.run({ key: sessionKey, run: n, at, ...head, ...used.counted });
        sessions.touchMinute(state.record, at);
        sessions.release(sessionKey);
        return added.map(({ row }) => row);
      });
    },

    adopt: ({ runId, lease }) =>
      queue.write(() => {
        fence.check(lease);
        const record = rows.byId(runId);
        if (record === undefined || record.state !== "running" || !fence.lost(stampOf(record)))
          return undefined;
        takeOver.run({ n: record.n, leaseName: lease.name, leaseEpoch: lease.epoch });
        const adopted = rows.record(record.n);
        return adopted === undefined ? undefined : rows.toRun(adopted);
      }),

    rest: (lease: LeaseToken) =>
      queue.write(() => {
        fence.check(lease);
        rest.run({ leaseName: lease.name, leaseEpoch: lease.epoch });
      }),

    wait: ({ waiting, ...write }) =>
      queue.write(() => {
        addAttempts.run({ n: rows.running(write).n, more: waiting ? -1 : 1 });
      }),
  };
}
