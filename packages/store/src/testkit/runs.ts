import assert from "node:assert/strict";
import type { ToolIntent } from "../types/runs.ts";
import type { Check } from "./under-test.ts";
import { accept, answer, begin, queuedIn, sessionOf, take } from "./under-test.ts";

const call: ToolIntent = { callId: "c1", name: "exec", args: { command: "ls" }, effects: "external" };

export const runChecks: Readonly<Record<string, Check>> = {
  "holds a session for one run at a time": async ({ store }) => {
    const lease = await take(store);
    const { run } = await begin(store, lease, "s", ["a"]);
    const second = await store.runs.begin({ session: sessionOf("s"), lease, inboxIds: [], userMessages: [] });
    assert.deepEqual([second.outcome, second.run.id], ["busy", run.id]);
    assert.equal((await store.sessions.get("s"))?.activeRun, run.id);
    const other = await begin(store, lease, "t", ["b"]);
    assert.deepEqual(
      (await store.runs.active()).map(({ id }) => id),
      [run.id, other.run.id],
    );
  },

  "ends with its messages, replies, history and usage together": async ({ store }) => {
    const lease = await take(store);
    const run = await answer(store, lease, "s", "a");
    const kept = await store.runs.inspect(run.id);
    assert.deepEqual(
      [kept?.run.state, kept?.messages.map(({ message }) => message), kept?.inbox[0]?.state],
      ["completed", [{ said: "a" }, { answered: "a" }], "replied"],
    );
    assert.deepEqual(
      (await store.outbox.list({ states: ["pending"] })).map(({ runId }) => runId),
      [run.id],
    );
    const [total] = await store.usage.sum({ by: "session" });
    assert.deepEqual([total?.by, total?.runs, total?.inputTokens], ["s", 1, 10]);
    assert.equal((await store.sessions.get("s"))?.activeRun, undefined);
    assert.deepEqual(await store.runs.active(), []);
  },

  "does not end while a message it took has no end, and changes nothing then": async ({ store }) => {
    const lease = await take(store);
    const { run, inboxIds } = await begin(store, lease, "s", ["a", "b"]);
    const [first] = inboxIds;
    assert.ok(first !== undefined);
    const early = {
      runId: run.id,
      lease,
      outcome: "completed",
      inbox: [{ id: first, state: "replied" }],
    } as const;
    await assert.rejects(store.runs.finish(early), { code: "conflict" });
    assert.equal((await store.inbox.get(first))?.state, "running");
    assert.equal((await store.runs.get(run.id))?.state, "running");
  },

  "gives a message back to its queue": async ({ store }) => {
    const lease = await take(store);
    const { run, inboxIds } = await begin(store, lease, "s", ["a"]);
    await store.runs.finish({
      runId: run.id,
      lease,
      outcome: "aborted",
      inbox: inboxIds.map((id) => ({ id, state: "queued" })),
    });
    assert.deepEqual(
      (await queuedIn(store, "s")).map(({ id }) => id),
      inboxIds,
    );
  },

  "journals tool calls before their effects, and takes what steers it": async ({ store }) => {
    const lease = await take(store);
    const { run } = await begin(store, lease, "s", ["a"]);
    const write = { runId: run.id, lease };
    await store.runs.step({ ...write, messages: [{ said: "I look" }], intents: [call] });
    await store.runs.toolStarted({ ...write, callIds: ["c1"] });
    assert.deepEqual((await store.runs.inspect(run.id))?.calls, [{ ...call, state: "started" }]);
    await store.runs.toolResults({ ...write, callIds: ["c1"], messages: [{ result: "ok" }] });
    const steering = await accept(store, "b", "s");
    await store.runs.step({ ...write, messages: [{ said: "b" }], inboxIds: [steering] });
    const journal = await store.runs.inspect(run.id);
    assert.deepEqual(
      journal?.calls.map(({ state }) => state),
      ["done"],
    );
    assert.deepEqual([journal?.messages.length, journal?.inbox.length], [4, 2]);
    await assert.rejects(store.runs.toolStarted({ ...write, callIds: ["c2"] }), { code: "not_found" });
  },

  "is interrupted when its lease is lost, and goes on under another, counted": async ({ store }) => {
    const { run } = await begin(store, await take(store), "s", ["a"]);
    assert.deepEqual(await store.runs.interrupted(), []);
    const next = await take(store);
    const [interrupted] = await store.runs.interrupted();
    assert.deepEqual([interrupted?.run.id, interrupted?.inbox.length], [run.id, 1]);
    assert.equal((await store.runs.adopt({ runId: run.id, lease: next }))?.attempts, 2);
    assert.equal(await store.runs.adopt({ runId: run.id, lease: next }), undefined);
    assert.deepEqual(await store.runs.interrupted(), []);
  },

  "counts no start that was rested or waited for somebody": async ({ store }) => {
    const lease = await take(store);
    const { run } = await begin(store, lease, "s", ["a"]);
    await store.runs.rest(lease);
    assert.equal((await store.runs.adopt({ runId: run.id, lease }))?.attempts, 1);
    await store.runs.wait({ runId: run.id, lease, waiting: true });
    assert.equal((await store.runs.get(run.id))?.attempts, 0);
    await store.runs.wait({ runId: run.id, lease, waiting: false });
    assert.equal((await store.runs.get(run.id))?.attempts, 1);
  },

  "lists the newest first, and sums many up at once": async ({ store }) => {
    const lease = await take(store);
    const first = await answer(store, lease, "s", "a");
    const second = await answer(store, lease, "s", "b");
    const listed = await store.runs.list({ sessionKey: "s" });
    assert.deepEqual(
      listed.map(({ id }) => id),
      [second.id, first.id],
    );
    assert.deepEqual(
      (await store.runs.list({ before: second.id })).map(({ id }) => id),
      [first.id],
    );
    const summaries = await store.runs.summaries([second.id, first.id]);
    assert.deepEqual(
      summaries.map(({ run, inbox }) => [run.id, inbox.map(({ payload }) => payload)]).toSorted(),
      [
        [first.id, [{ text: "a" }]],
        [second.id, [{ text: "b" }]],
      ].toSorted(),
    );
  },
};
