import type { Run, ToolIntent } from "../types/runs.ts";
import {
  accept,
  acquire,
  answer,
  begin,
  type Checks,
  expectDefined,
  expectEqual,
  expectRejection,
  getIds,
  getQueued,
  toSeed,
} from "./under-test.ts";

const call: ToolIntent = { callId: "c1", name: "exec", args: { command: "ls" }, effects: "external" };

const getNumbers = (messages: readonly { readonly seq: number }[] = []) => messages.map(({ seq }) => seq);

export const runChecks: Checks = {
  "holds a session for one run at a time": async ({ store }) => {
    const lease = await acquire(store);
    const { run } = await begin(store, lease, "s", ["a"]);
    const second = await store.runs.begin({
      session: toSeed("s"),
      lease,
      inboxIds: [],
      userMessages: [],
    });
    expectEqual([second.outcome, second.run.id], ["busy", run.id], "Two runs hold one session.");
    const session = await store.sessions.get("s");
    expectEqual(session?.activeRun, run.id, "The session does not name its run.");
    const other = await begin(store, lease, "t", ["b"]);
    const active = getIds(await store.runs.active());
    expectEqual(active, [run.id, other.run.id], "The active runs are wrong.");
  },

  "ends together with its messages, replies, history and usage": async ({ store }) => {
    const lease = await acquire(store);
    const run = await answer(store, lease, "s", "a");
    const journal = await store.runs.inspect(run.id);
    expectEqual(journal?.run.state, "completed", "The run did not end.");
    const messages = journal?.messages.map(({ message }) => message);
    expectEqual(messages, [{ user: "a" }, { assistant: "a" }], "The history is wrong.");
    expectEqual(journal?.inbox[0]?.state, "replied", "The message did not end.");
    const replies = (await store.outbox.list({ states: ["pending"] })).map(({ runId }) => runId);
    expectEqual(replies, [run.id], "The reply is not in the outbox.");
    const [total] = await store.usage.sum({ by: "session" });
    const used = [total?.by, total?.runs, total?.inputTokens];
    expectEqual(used, ["s", 1, 10], "The usage was not counted.");
    const series = await store.usage.series({ by: "session" });
    const days = series.map(({ day, by, runs, inputTokens }) => [day, by, runs, inputTokens]);
    const today = new Date(journal?.run.finishedAt ?? 0).toISOString().slice(0, 10);
    expectEqual(days, [[today, "s", 1, 10]], "The usage was not counted by day.");
    const models = (await store.usage.sum({ by: "model" })).map(({ by, runs, inputTokens }) => [
      ...[by, runs, inputTokens],
    ]);
    expectEqual(
      models,
      [
        ["", 0, 4],
        ["vendor/large", 1, 6],
      ],
      "The usage was not counted by model.",
    );
    const later = await store.usage.series({ by: "session", from: Date.parse("2999-01-01") });
    expectEqual(later, [], "The usage of earlier days was returned.");
    const session = await store.sessions.get("s");
    expectEqual(session?.activeRun, undefined, "The session is still held by its run.");
    expectEqual(await store.runs.active(), [], "The run is still active.");
  },

  "does not end while one of its messages has no final state": async ({ store }) => {
    const lease = await acquire(store);
    const { run, inboxIds } = await begin(store, lease, "s", ["a", "b"]);
    const first = expectDefined(inboxIds[0], "The run has no message.");
    const inbox = [{ id: first, state: "replied" }] as const;
    const finish = store.runs.finish({ runId: run.id, lease, outcome: "completed", inbox });
    await expectRejection(finish, "conflict", "A run ended and left a message without a final state.");
    expectEqual((await store.inbox.get(first))?.state, "running", "The rejected write ended a message.");
    expectEqual((await store.runs.get(run.id))?.state, "running", "The rejected write ended the run.");
  },

  "returns a message to its queue": async ({ store }) => {
    const lease = await acquire(store);
    const { run, inboxIds } = await begin(store, lease, "s", ["a"]);
    const inbox = inboxIds.map((id) => ({ id, state: "queued" as const }));
    await store.runs.finish({ runId: run.id, lease, outcome: "aborted", inbox });
    expectEqual(getIds(await getQueued(store, "s")), inboxIds, "The message is not queued again.");
  },

  "numbers the messages of a conversation without gaps, across runs": async ({ store }) => {
    const lease = await acquire(store);
    const first = await begin(store, lease, "s", ["a"]);
    const messages = [{ assistant: "b" }, { assistant: "c" }];
    await store.runs.step({ runId: first.run.id, lease, messages });
    const inbox = first.inboxIds.map((id) => ({ id, state: "replied" as const }));
    await store.runs.finish({ runId: first.run.id, lease, outcome: "completed", inbox });
    const second = await begin(store, lease, "s", ["d"]);
    const history = getNumbers(await store.sessions.history("s"));
    expectEqual(history, [1, 2, 3, 4], "The numbers of the conversation have gaps.");
    const own = getNumbers((await store.runs.inspect(second.run.id))?.messages);
    expectEqual(own, [4], "A run's journal has messages of another run.");
  },

  "records a tool call before its effect, with its state until the result": async ({ store }) => {
    const lease = await acquire(store);
    const { run } = await begin(store, lease, "s", ["a"]);
    const write = { runId: run.id, lease };
    const getCalls = async () => (await store.runs.inspect(run.id))?.calls;
    await store.runs.step({ ...write, messages: [{ assistant: "I look" }], intents: [call] });
    expectEqual(await getCalls(), [{ ...call, state: "intent" }], "The intent was not recorded.");
    await store.runs.toolStarted({ ...write, callIds: ["c1"] });
    expectEqual(await getCalls(), [{ ...call, state: "started" }], "The start was not recorded.");
    await store.runs.toolResults({ ...write, callIds: ["c1"], messages: [{ result: "ok" }] });
    expectEqual(await getCalls(), [{ ...call, state: "done" }], "The result was not recorded.");
  },

  "commits a turn together with the start of its first call": async ({ store }) => {
    const lease = await acquire(store);
    const { run } = await begin(store, lease, "s", ["a"]);
    const turn = { messages: [{ assistant: "I look" }], intents: [call], callIds: ["c1"] };
    await store.runs.toolStarted({ runId: run.id, lease, ...turn });
    const journal = await store.runs.inspect(run.id);
    expectEqual(journal?.messages.length, 2, "The turn was not committed.");
    expectEqual(journal?.calls[0]?.state, "started", "The start was not committed.");
  },

  "rejects the start of an unknown call and writes nothing": async ({ store }) => {
    const lease = await acquire(store);
    const { run } = await begin(store, lease, "s", ["a"]);
    const start = { runId: run.id, lease, callIds: ["c2"], messages: [{ assistant: "b" }] };
    await expectRejection(store.runs.toolStarted(start), "not_found", "An unknown call was started.");
    const history = await store.sessions.history("s");
    expectEqual(getNumbers(history), [1], "The rejected write added a message.");
  },

  "takes a message that steers the run": async ({ store }) => {
    const lease = await acquire(store);
    const { run } = await begin(store, lease, "s", ["a"]);
    const steering = await accept(store, "b", "s");
    const messages = [{ user: "b" }];
    await store.runs.step({ runId: run.id, lease, messages, inboxIds: [steering] });
    const journal = await store.runs.inspect(run.id);
    expectEqual(journal?.inbox.length, 2, "The steering message is not the run's.");
    expectEqual((await store.inbox.get(steering))?.state, "running", "The steering message is not running.");
  },

  "replaces messages by a summary under the next number during a run": async ({ store }) => {
    const lease = await acquire(store);
    const { run } = await begin(store, lease, "s", ["a"]);
    const write = { runId: run.id, lease };
    await store.runs.step({ ...write, messages: [{ assistant: "b" }, { assistant: "c" }] });
    await store.sessions.compact("s", { summary: { summary: "a, b" }, upTo: 2, lease });
    await store.runs.step({ ...write, messages: [{ assistant: "d" }] });
    const history = await store.sessions.history("s");
    expectEqual(getNumbers(history), [4, 3, 5], "The summary or the messages after it have wrong numbers.");
    expectEqual(history[0]?.compaction, true, "The summary is not marked as one.");
  },

  "is interrupted when its lease is lost, and continues under another": async ({ store }) => {
    const { run } = await begin(store, await acquire(store), "s", ["a"]);
    expectEqual(await store.runs.interrupted(), [], "A run with a valid lease counts as interrupted.");
    const lease = await acquire(store);
    const interrupted = await store.runs.interrupted();
    const found = interrupted.map((one) => [one.run.id, one.inbox.length]);
    expectEqual(found, [[run.id, 1]], "The interrupted run was not found with its message.");
    const adopted = await store.runs.adopt({ runId: run.id, lease });
    expectEqual(adopted?.attempts, 2, "The second attempt was not counted.");
    expectEqual(await store.runs.adopt({ runId: run.id, lease }), undefined, "A run was adopted twice.");
    expectEqual(await store.runs.interrupted(), [], "An adopted run still counts as interrupted.");
  },

  "does not count a start for whose end the run is not blamed": async ({ store }) => {
    const { run } = await begin(store, await acquire(store), "s", ["a"]);
    const lease = await acquire(store);
    const adopted = await store.runs.adopt({ runId: run.id, lease, counts: false });
    expectEqual(adopted?.attempts, 1, "A start that the run is not blamed for was counted.");
  },

  "does not count a start that was given up or waited for a person": async ({ store }) => {
    const lease = await acquire(store);
    const { run } = await begin(store, lease, "s", ["a"]);
    await store.runs.rest(lease);
    const adopted = await store.runs.adopt({ runId: run.id, lease });
    expectEqual(adopted?.attempts, 1, "A start that was given up was counted.");
    const getAttempts = async () => (await store.runs.get(run.id))?.attempts;
    await store.runs.wait({ runId: run.id, lease, waiting: true });
    expectEqual(await getAttempts(), 0, "A start counts while it waits.");
    await store.runs.wait({ runId: run.id, lease, waiting: false });
    expectEqual(await getAttempts(), 1, "A start does not count after it waited.");
  },

  "rejects a wait for a run that has ended": async ({ store }) => {
    const lease = await acquire(store);
    const { id }: Run = await answer(store, lease, "s", "a");
    const wait = store.runs.wait({ runId: id, lease, waiting: true });
    await expectRejection(wait, "conflict", "A run that has ended waits for a person.");
  },

  "lists runs newest first, and reads many at once": async ({ store }) => {
    const lease = await acquire(store);
    const first = await answer(store, lease, "s", "a");
    const second = await answer(store, lease, "s", "b");
    const ofSession = getIds(await store.runs.list({ sessionKey: "s" }));
    expectEqual(ofSession, [second.id, first.id], "The runs of a session are not listed newest first.");
    const before = getIds(await store.runs.list({ before: second.id }));
    expectEqual(before, [first.id], "The cursor is ignored.");
    const summaries = await store.runs.summaries([second.id, first.id]);
    const payloads = new Map(
      summaries.map(({ run, inbox }) => [run.id, inbox.map(({ payload }) => payload)]),
    );
    const found = [payloads.get(first.id), payloads.get(second.id)];
    expectEqual(found, [[{ text: "a" }], [{ text: "b" }]], "A summary has wrong messages.");
  },
};
