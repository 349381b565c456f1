import type { Context } from "./context.ts";
import { StoreError } from "./errors.ts";
import { rowOf } from "./ids.ts";
import type { InboxReader } from "./inbox-rows.ts";
import { decode, encode, encodeOptional } from "./json.ts";
import type { Fence } from "./leases.ts";
import type { Head, MessageChain } from "./messages.ts";
import { type OutboxRows, prepareOutbox } from "./outbox-rows.ts";
import type { InboxRecord, RunRecord, ToolCallRecord } from "./records.ts";
import type { RunRows } from "./run-rows.ts";
import type { Held, SessionRows } from "./session-rows.ts";
import type { Bodies, InboxId, JsonValue, LeaseToken, RunId } from "./types/common.ts";
import type { InboxSettle } from "./types/inbox.ts";
import type { InterruptedRun, RunBegun, RunStore, ToolIntent } from "./types/runs.ts";
import { checkUsage } from "./usage.ts";

interface Parts<T extends Bodies> {
  readonly fence: Fence;
  readonly inbox: InboxReader<T>;
  readonly sessions: SessionRows;
  readonly chain: MessageChain<T>;
  readonly outbox: OutboxRows<T>;
  readonly rows: RunRows;
}

interface PreparedIntent {
  readonly intent: ToolIntent;
  readonly args: string;
}

export function createRunStore<T extends Bodies>(context: Context, parts: Parts<T>): RunStore<T> {
  const { database, queue, now } = context;
  const makeId = context.newIdMaker();
  const { fence, inbox, sessions, chain, outbox, rows } = parts;
  const nextNumber = database.query<[], { n: number }>("SELECT coalesce(max(n), 0) + 1 AS n FROM run");
  const insert = database.command<
    [number, RunId, string, string, number, string, number, string | null, string, number | null, number]
  >(
    `INSERT INTO run (n, id, session_key, agent_id, generation, state, lease_name, lease_epoch, attempts, meta, inbox,
       outbox, prev_run, started_at)
     VALUES (?, ?, ?, ?, ?, 'running', ?, ?, 1, ?, ?, '[]', ?, ?)`,
  );
  const hold = database.command<[string, number, number | null, number, number]>(
    "INSERT INTO active_run (session_key, run, last_entry, last_seq, message_count) VALUES (?, ?, ?, ?, ?)",
  );
  const letGo = database.command<[string]>("DELETE FROM active_run WHERE session_key = ?");
  const setInbox = database.command<[string, number]>("UPDATE run SET inbox = ? WHERE n = ?");
  const join = database.command<[number, number]>(
    "UPDATE inbox SET state = 'running', run = ? WHERE seq = ?",
  );
  const settle = database.command<[string, string | null, string | null, number, number]>(
    "UPDATE inbox SET state = ?, rule = ?, reason = ?, settled_at = ? WHERE seq = ?",
  );
  const giveBack = database.command<[number]>("UPDATE inbox SET state = 'queued', run = NULL WHERE seq = ?");
  const nextCall = database.query<[number], { n: number }>(
    "SELECT coalesce(max(n), 0) + 1 AS n FROM tool_call WHERE run = ?",
  );
  const insertCall = database.command<[number, number, string, string, string, string]>(
    "INSERT INTO tool_call (run, n, call_id, name, args, effects, state) VALUES (?, ?, ?, ?, ?, ?, 'intent')",
  );
  const setCall = database.command<[string, number, string]>(
    "UPDATE tool_call SET state = ? WHERE run = ? AND call_id = ?",
  );
  const calls = database.query<[number], ToolCallRecord>("SELECT * FROM tool_call WHERE run = ? ORDER BY n");
  const end = database.command<
    [
      ...[string, string | null, number | null, number],
      ...[number | null, number | null, number | null, number | null, number | null, number | null, number],
    ]
  >(
    `UPDATE run SET state = ?, error = ?, last_entry = ?, finished_at = ?, model_calls = ?, input_tokens = ?,
       output_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?, cost_micros = ? WHERE n = ?`,
  );
  const closeSession = database.command<
    [
      number | null,
      number,
      number,
      number,
      number,
      ...[number, number, number, number, number, number],
      string,
    ]
  >(
    `UPDATE session SET last_entry = ?, last_seq = ?, message_count = ?, last_run = ?, updated_at = ?, runs = runs + 1,
       model_calls = model_calls + ?, input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
       cache_read_tokens = cache_read_tokens + ?, cache_write_tokens = cache_write_tokens + ?,
       cost_micros = cost_micros + ? WHERE key = ?`,
  );
  const stamp = database.command<[string, number, number]>(
    "UPDATE run SET lease_name = ?, lease_epoch = ?, attempts = attempts + 1 WHERE n = ?",
  );
  const rest = database.command<[string, number]>(
    `UPDATE run SET lease_name = '', lease_epoch = 0, attempts = attempts - 1
     WHERE n IN (SELECT run FROM active_run) AND lease_name = ? AND lease_epoch = ?`,
  );
  const addAttempts = database.command<[number, number]>(
    "UPDATE run SET attempts = attempts + ? WHERE n = ?",
  );
  const activeRuns = database.query<[], RunRecord>(
    "SELECT run.* FROM active_run JOIN run ON run.n = active_run.run ORDER BY run.n",
  );
  const newest = database.query<[string | null, number, number], RunRecord>(
    "SELECT * FROM run WHERE (?1 IS NULL OR session_key = ?1) AND n < ?2 ORDER BY n DESC LIMIT ?3",
  );

  const forgetTold = database.command<[string, string]>(
    "DELETE FROM group_history WHERE conversation = ? AND entry_id IN (SELECT value FROM json_each(?))",
  );

  const bodiesOf = (messages: readonly T["message"][]) =>
    messages.map((message) => encode(message, "A message"));

  function prepareIntents(intents: readonly ToolIntent[]): PreparedIntent[] {
    return intents.map((intent) => ({ intent, args: encode(intent.args, "The arguments of a tool call") }));
  }

  /** The queued messages a run is to take, each of its session. */
  function takeable(ids: readonly InboxId[], sessionKey: string): InboxRecord[] {
    return ids.map((id) => {
      const row = inbox.byId(id);
      if (row === undefined) throw new StoreError("not_found", `There is no inbox message ${id}.`);
      if (row.state === "queued" && row.session_key === sessionKey) return row;
      const where = row.session_key === null ? "without a session" : `in session "${row.session_key}"`;
      throw new StoreError(
        "conflict",
        `Inbox message ${id} is ${row.state} ${where}: no run of "${sessionKey}" can take it.`,
      );
    });
  }

  function appendTo(run: RunRecord, held: Held, bodies: readonly string[]): Head {
    const to = { sessionKey: run.session_key, generation: run.generation, run: run.n, at: now() };
    return chain.append(sessions.head(held), to, bodies);
  }

  function appendNow(run: RunRecord, bodies: readonly string[]): void {
    if (bodies.length === 0) return;
    const held = sessions.mustLoad(run.session_key);
    sessions.saveHead(held, appendTo(run, held, bodies));
  }

  /** Each message of the run with its end; those that have theirs are left alone. */
  function endings(run: RunRecord, settles: readonly InboxSettle[]): { row: InboxRecord; to: InboxSettle }[] {
    const open = new Set(rows.inboxOf(run));
    const found = settles.map((to) => {
      const row = inbox.byId(to.id);
      if (row === undefined || row.run !== run.n || !open.delete(row.seq)) {
        throw new StoreError("conflict", `Inbox message ${to.id} does not belong to run ${run.id}.`);
      }
      return { row, to };
    });
    if (open.size > 0) {
      throw new StoreError(
        "conflict",
        `Run ${run.id} would end and leave ${open.size} of its messages without an end.`,
      );
    }
    return found;
  }

  function inspect(run: RunRecord): InterruptedRun<T> {
    const held = sessions.load(run.session_key);
    const last =
      run.state === "running" && held !== undefined ? sessions.head(held).last_entry : run.last_entry;
    return {
      run: rows.toRun(run),
      messages: chain.ofRun(last, run.session_key, run.n),
      calls: calls.all(run.n).map((call) => ({
        callId: call.call_id,
        name: call.name,
        args: decode<JsonValue>(call.args),
        effects: call.effects,
        state: call.state,
      })),
      inbox: rows.inboxOf(run).flatMap((seq) => inbox.full(inbox.record(seq)) ?? []),
    };
  }

  const stampOf = (run: RunRecord): LeaseToken => ({ name: run.lease_name, epoch: run.lease_epoch });

  return {
    async begin({ session, lease, inboxIds, userMessages, meta }) {
      const bodies = bodiesOf(userMessages);
      const metaText = encodeOptional(meta, "The meta of a run");
      return queue.write((): RunBegun => {
        fence.check(lease);
        const before = sessions.load(session.key);
        const other = before?.active === undefined ? undefined : rows.record(before.active.run);
        if (other !== undefined) return { outcome: "busy", run: rows.toRun(other) };

        const taken = takeable(inboxIds, session.key);
        const record = before?.record ?? sessions.create(session, now());
        const n = nextNumber.get()?.n ?? 1;
        const id = makeId<RunId>(now(), n);
        const { generation } = record;
        const inboxList = JSON.stringify(taken.map((row) => row.seq));
        insert.run(
          ...([n, id, session.key, session.agentId, generation, lease.name, lease.epoch, metaText] as const),
          inboxList,
          record.last_run,
          now(),
        );
        for (const row of taken) join.run(n, row.seq);
        const head = chain.append(record, { sessionKey: session.key, generation, run: n, at: now() }, bodies);
        hold.run(session.key, n, head.last_entry, head.last_seq, head.message_count);
        const run = rows.byId(id);
        if (run === undefined) throw new StoreError("io", `Run ${id} is gone after its insert.`);
        return {
          outcome: "started",
          run: rows.toRun(run),
          session: sessions.toSession({ record, active: sessions.active(session.key) }),
        };
      });
    },

    async step({ messages, intents, inboxIds, ...write }) {
      const bodies = bodiesOf(messages);
      const prepared = prepareIntents(intents ?? []);
      return queue.write(() => {
        const run = rows.running(write);
        const taken = takeable(inboxIds ?? [], run.session_key);
        for (const row of taken) join.run(run.n, row.seq);
        if (taken.length > 0) {
          setInbox.run(JSON.stringify([...rows.inboxOf(run), ...taken.map((row) => row.seq)]), run.n);
        }
        addCalls(run, prepared);
        appendNow(run, bodies);
      });
    },

    async toolStarted({ callIds, messages, intents, ...write }) {
      const bodies = bodiesOf(messages ?? []);
      const prepared = prepareIntents(intents ?? []);
      return queue.write(() => {
        const run = rows.running(write);
        addCalls(run, prepared);
        for (const callId of callIds) markCall(run, callId, "started");
        appendNow(run, bodies);
      });
    },

    async toolResults({ callIds, messages, ...write }) {
      const bodies = bodiesOf(messages);
      return queue.write(() => {
        const run = rows.running(write);
        for (const callId of callIds) markCall(run, callId, "done");
        appendNow(run, bodies);
      });
    },

    async finish({ outcome, inbox: settles, messages, outbox: replies, told, usage, error, ...write }) {
      const bodies = bodiesOf(messages ?? []);
      const prepared = prepareOutbox(replies ?? []);
      const used = checkUsage(usage ?? {});
      return queue.write(() => {
        const run = rows.running(write);
        const ends = endings(run, settles);
        const held = sessions.mustLoad(run.session_key);
        const head = appendTo(run, held, bodies);
        const at = now();
        for (const { row, to } of ends) {
          const { seq } = row;
          if (row.rule !== null) settle.run("ignored", row.rule, row.reason, at, seq);
          else if (to.state === "queued") giveBack.run(seq);
          else settle.run(to.state, to.detail?.rule ?? null, to.detail?.reason ?? null, at, seq);
        }
        const sent = outbox.insert(prepared, {
          lease: write.lease,
          run: run.n,
          runId: run.id,
          sessionKey: run.session_key,
          place: rows.outboxOf(run).length,
        });
        if (sent.length > 0) rows.addOutbox(run, sent);
        if (told !== undefined) forgetTold.run(told.conversation, JSON.stringify(told.ids));
        end.run(outcome, error ?? null, head.last_entry, at, ...used.reported, run.n);
        const heads = [head.last_entry, head.last_seq, head.message_count] as const;
        closeSession.run(...heads, run.n, at, ...used.counted, run.session_key);
        letGo.run(run.session_key);
        return sent;
      });
    },

    adopt: ({ runId, lease }) =>
      queue.write(() => {
        fence.check(lease);
        const run = rows.byId(runId);
        if (run === undefined || run.state !== "running" || !fence.lost(stampOf(run))) return undefined;
        stamp.run(lease.name, lease.epoch, run.n);
        const adopted = rows.byId(runId);
        return adopted === undefined ? undefined : rows.toRun(adopted);
      }),

    rest: (lease) =>
      queue.write(() => {
        fence.check(lease);
        rest.run(lease.name, lease.epoch);
      }),

    wait: ({ waiting, ...write }) =>
      queue.write(() => {
        addAttempts.run(waiting ? -1 : 1, rows.running(write).n);
      }),

    interrupted: () =>
      queue.read(() => {
        fence.forget();
        return activeRuns
          .all()
          .filter((run) => fence.lost(stampOf(run)))
          .map(inspect);
      }),

    get: (id) =>
      queue.read(() => {
        const run = rows.byId(id);
        return run === undefined ? undefined : rows.toRun(run);
      }),

    inspect: (id) =>
      queue.read(() => {
        const run = rows.byId(id);
        return run === undefined ? undefined : inspect(run);
      }),

    list: (filter) =>
      queue.read(() => {
        const before = filter?.before === undefined ? undefined : rowOf(filter.before);
        return newest
          .all(filter?.sessionKey ?? null, before ?? Number.MAX_SAFE_INTEGER, filter?.limit ?? 50)
          .map(rows.toRun);
      }),
  };

  function addCalls(run: RunRecord, prepared: readonly PreparedIntent[]): void {
    if (prepared.length === 0) return;
    let n = nextCall.get(run.n)?.n ?? 1;
    for (const { intent, args } of prepared) {
      insertCall.run(run.n, n, intent.callId, intent.name, args, intent.effects);
      n += 1;
    }
  }

  function markCall(run: RunRecord, callId: string, state: "started" | "done"): void {
    if (setCall.run(state, run.n, callId) === 0) {
      throw new StoreError(
        "not_found",
        `Run ${run.id} has no tool call "${callId}": journal the intent first.`,
      );
    }
  }
}
