import { FencedError } from "../../errors.ts";
import type { ToolIntent } from "../../types/runs.ts";
import type { Suite } from "./suite.ts";
import { accepted, answered, begun, only, queuedIn, reply, seed, takeLease } from "./support.ts";

const { key } = seed();

const assistant = (content: string) => ({ role: "assistant", content });

const call: ToolIntent = { callId: "c1", name: "write", args: { path: "a" }, effects: "external" };

export const runsSuite: Suite = ({ test, expect, open }) => {
  test("a run removes the group history that it passed to the model when it ends", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const push = (id: string) => store.groupHistory.push("g", { id, senderId: "u", body: id, at: 1 });
    for (const id of ["a", "b"]) await push(id);
    const { run, inboxIds } = await begun(store, lease, ["hello"]);
    await push("c");
    const told = ["a", "b", "gone"].map((id) => ({ conversation: "g", id }));
    const end = { runId: run.id, lease, outcome: "completed", told } as const;
    await expect(store.runs.finish({ ...end, inbox: [] })).rejects.toMatchObject({ code: "conflict" });
    expect((await store.groupHistory.list("g")).map((one) => one.id)).toEqual(["a", "b", "c"]);
    await store.runs.finish({ ...end, inbox: [{ id: only(inboxIds), state: "replied" }] });
    expect((await store.groupHistory.list("g")).map((one) => one.id)).toEqual(["c"]);
  });

  test("a run commits each step, and its end together with its replies and usage", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    const { run, inboxIds } = await begun(store, lease, ["hello"]);
    expect(run).toMatchObject({
      sessionKey: key,
      state: "running",
      attempts: 1,
      lease: { name: "gateway", epoch: lease.epoch },
    });
    const write = { runId: run.id, lease };
    await store.runs.step({ ...write, messages: [assistant("let me see")], intents: [call] });
    await store.runs.toolStarted({ ...write, callIds: ["c1"] });
    await store.runs.toolResults({ ...write, callIds: ["c1"], messages: [{ role: "toolResult" }] });
    time.now += 10;
    const rows = await store.runs.finish({
      ...write,
      outcome: "completed",
      inbox: [{ id: only(inboxIds), state: "replied" }],
      messages: [assistant("done")],
      outbox: [reply("done"), reply("and more")],
      usage: { modelCalls: 2, inputTokens: 100, costMicros: 12 },
    });
    expect(rows.map((row) => [row.state, row.runId, row.sessionKey])).toEqual([
      ["pending", run.id, key],
      ["pending", run.id, key],
    ]);
    expect(new Set(rows.map((row) => row.key)).size).toBe(2);
    expect(await store.inbox.get(only(inboxIds))).toMatchObject({ state: "replied", runId: run.id });
    expect((await store.sessions.history(key)).map((entry) => entry.message)).toEqual([
      { role: "user", content: "hello" },
      assistant("let me see"),
      { role: "toolResult" },
      assistant("done"),
    ]);
    expect(await store.sessions.get(key)).toMatchObject({
      lastSeq: 4,
      messageCount: 4,
      updatedAt: time.now,
      totals: { runs: 1, modelCalls: 2, inputTokens: 100, outputTokens: 0, costMicros: 12 },
    });
    expect(await store.runs.get(run.id)).toMatchObject({
      state: "completed",
      finishedAt: time.now,
      usage: { modelCalls: 2, inputTokens: 100, costMicros: 12 },
    });
    const journal = await store.runs.inspect(run.id);
    expect(journal?.messages).toHaveLength(4);
    expect(journal?.calls).toEqual([{ ...call, state: "done" }]);
    expect(journal?.inbox.map((row) => row.state)).toEqual(["replied"]);
  });

  test("a session has one run at a time, and other sessions are independent", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const { run } = await begun(store, lease, ["1"]);
    const id = await accepted(store, "2");
    const second = await store.runs.begin({ session: seed(), lease, inboxIds: [id], userMessages: [] });
    expect(second).toMatchObject({ outcome: "busy", run: { id: run.id } });
    expect(await store.inbox.get(id)).toMatchObject({ state: "queued" });
    expect((await begun(store, lease, ["3"], "another")).run.sessionKey).toBe("another");
  });

  test("a run takes only queued messages of its session, and ends all of them", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const elsewhere = await accepted(store, "1", "elsewhere");
    const begin = (inboxIds: (typeof elsewhere)[]) =>
      store.runs.begin({ session: seed(), lease, inboxIds, userMessages: [] });
    await expect(begin([elsewhere])).rejects.toMatchObject({ code: "conflict" });
    expect(await store.sessions.get(key)).toBeUndefined();

    const { run, inboxIds } = await begun(store, lease, ["2", "3"]);
    const [first, second] = inboxIds;
    if (first === undefined || second === undefined) throw new Error("two messages");
    const finish = { runId: run.id, lease, outcome: "completed" } as const;
    await expect(
      store.runs.finish({ ...finish, inbox: [{ id: first, state: "replied" }] }),
    ).rejects.toMatchObject({
      code: "conflict",
    });
    await expect(
      store.runs.finish({
        ...finish,
        inbox: [first, second, elsewhere].map((id) => ({ id, state: "replied" })),
      }),
    ).rejects.toMatchObject({ code: "conflict" });
    expect(await store.inbox.get(first)).toMatchObject({ state: "running" });
    await store.runs.finish({
      ...finish,
      inbox: [
        { id: first, state: "replied" },
        { id: second, state: "queued" },
      ],
    });
    expect((await queuedIn(store, key)).map((row) => [row.id, row.runId])).toEqual([[second, undefined]]);
  });

  test("a steering message joins the run and ends with it", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const { run, inboxIds } = await begun(store, lease, ["1"]);
    const id = await accepted(store, "2");
    await store.runs.step({
      runId: run.id,
      lease,
      messages: [{ role: "user", content: "2" }],
      inboxIds: [id],
    });
    expect(await store.inbox.get(id)).toMatchObject({ state: "running", runId: run.id });
    expect((await store.runs.inspect(run.id))?.inbox.map((row) => row.id)).toEqual([...inboxIds, id]);
    const left = { runId: run.id, lease, outcome: "completed", inbox: [{ id, state: "replied" }] } as const;
    await expect(store.runs.finish(left)).rejects.toMatchObject({ code: "conflict" });
  });

  test("every write under an earlier epoch is rejected", async () => {
    const { store } = await open();
    const old = await takeLease(store);
    const { run, inboxIds } = await begun(store, old, ["1"]);
    await store.runs.step({ runId: run.id, lease: old, messages: [], intents: [call] });
    const queued = await accepted(store, "2", "another");
    const [row] = await store.outbox.enqueue([{ ...reply("x"), claim: true }], { lease: old });
    if (row === undefined) throw new Error("no row");
    const lease = await takeLease(store);
    const before = await everything();

    const write = { runId: run.id, lease: old };
    const attempts = [
      () =>
        store.runs.begin({ session: seed("another"), lease: old, inboxIds: [queued], userMessages: ["x"] }),
      () => store.runs.step({ ...write, messages: ["x"] }),
      () => store.runs.toolStarted({ ...write, callIds: ["c1"] }),
      () => store.runs.toolResults({ ...write, callIds: ["c1"], messages: ["x"] }),
      () =>
        store.runs.finish({
          ...write,
          outcome: "completed",
          inbox: [{ id: only(inboxIds), state: "replied" }],
          outbox: [reply("x")],
        }),
      () => store.runs.adopt(write),
      () => store.sessions.append(key, ["x"], old),
      () => store.sessions.compact(key, { summary: "x", upTo: 1, lease: old }),
      () => store.sessions.reset(key, old),
      () => store.sessions.remove(key, old),
      () => store.outbox.enqueue([reply("x")], { lease: old }),
      () => store.outbox.claimDue({ lease: old, limit: 1 }),
      () => store.outbox.markPart(row.id, old, { part: 0, receipt: 1 }),
      () => store.outbox.markSent(row.id, old),
      () => store.outbox.retryAt(row.id, old, 1),
      () => store.outbox.uncertain(row.id, old),
      () => store.outbox.dead(row.id, old),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toBeInstanceOf(FencedError);
    expect(await everything()).toEqual(before);
    // The present epoch has not taken the run over yet: it is not its own either.
    await expect(store.runs.step({ runId: run.id, lease, messages: ["x"] })).rejects.toMatchObject({
      code: "fenced",
    });

    async function everything() {
      return [
        await store.runs.inspect(run.id),
        await store.sessions.transcript(key),
        await store.sessions.list(),
        await store.inbox.list(),
        await store.outbox.list({ states: ["pending", "sending", "sent", "dead", "uncertain"] }),
      ];
    }
  });

  test("a run is found after a crash and continues under the new lease", async () => {
    const { store } = await open();
    const old = await takeLease(store);
    const { run, inboxIds } = await begun(store, old, ["1"]);
    const second: ToolIntent = { ...call, callId: "c2", effects: "none" };
    const third: ToolIntent = { ...call, callId: "c3" };
    await store.runs.step({
      runId: run.id,
      lease: old,
      messages: [assistant("")],
      intents: [call, second, third],
    });
    await store.runs.toolStarted({ runId: run.id, lease: old, callIds: ["c1", "c2"] });
    await store.runs.toolResults({
      runId: run.id,
      lease: old,
      callIds: ["c2"],
      messages: [{ role: "toolResult" }],
    });
    expect(await store.runs.interrupted()).toEqual([]);

    const lease = await takeLease(store);
    const [found, ...more] = await store.runs.interrupted();
    expect(more).toEqual([]);
    expect(found?.run.id).toBe(run.id);
    expect(found?.messages.map((entry) => entry.seq)).toEqual([1, 2, 3]);
    expect(found?.calls.map((entry) => [entry.callId, entry.effects, entry.state])).toEqual([
      ["c1", "external", "started"],
      ["c2", "none", "done"],
      ["c3", "external", "intent"],
    ]);
    expect(found?.inbox.map((row) => row.id)).toEqual(inboxIds);

    expect(await store.runs.adopt({ runId: run.id, lease })).toMatchObject({
      attempts: 2,
      lease: { epoch: lease.epoch },
    });
    expect(await store.runs.adopt({ runId: run.id, lease })).toBeUndefined();
    expect(await store.runs.interrupted()).toEqual([]);
    await store.runs.step({ runId: run.id, lease, messages: [assistant("going on")] });
    const third2 = await takeLease(store);
    expect(await store.runs.adopt({ runId: run.id, lease: third2 })).toMatchObject({ attempts: 3 });
    await store.runs.finish({
      runId: run.id,
      lease: third2,
      outcome: "poisoned",
      error: "crashed three times",
      inbox: [{ id: only(inboxIds), state: "failed-reported", detail: { rule: "poison" } }],
    });
    expect(await store.runs.get(run.id)).toMatchObject({ state: "poisoned", error: "crashed three times" });
    await answered(store, third2, "next");
  });

  test("a crash counts as an attempt, a rest or a wait does not", async () => {
    const { store } = await open();
    const first = await takeLease(store);
    let lease = first;
    const { run, inboxIds } = await begun(store, lease, ["1"]);
    const other = await begun(store, lease, ["2"], "another");
    await store.runs.finish({
      runId: other.run.id,
      lease,
      outcome: "completed",
      inbox: [{ id: only(other.inboxIds), state: "replied" }],
    });
    const seen: (number | undefined)[] = [];
    for (const ending of ["rest", "crash", "rest", "rest", "crash", "waiting", "waited"]) {
      for (const waiting of { waiting: [true], waited: [true, false] }[ending] ?? [])
        await store.runs.wait({ runId: run.id, lease, waiting });
      if (ending === "rest") {
        await store.runs.rest(lease);
        const late = { runId: run.id, lease, messages: [assistant("late")] };
        await expect(store.runs.step(late)).rejects.toMatchObject({ code: "fenced" });
        // Once more changes nothing.
        await store.runs.rest(lease);
      }
      const old = lease;
      lease = await takeLease(store);
      await expect(store.runs.rest(old)).rejects.toMatchObject({ code: "fenced" });
      expect((await store.runs.interrupted()).map((one) => one.run.id)).toEqual([run.id]);
      seen.push((await store.runs.adopt({ runId: run.id, lease }))?.attempts);
    }
    expect(seen).toEqual([1, 2, 2, 2, 3, 3, 4]);
    expect(await store.runs.get(other.run.id)).toMatchObject({ attempts: 1, lease: { epoch: first.epoch } });
    await store.runs.finish({
      runId: run.id,
      lease,
      outcome: "completed",
      inbox: [{ id: only(inboxIds), state: "replied" }],
    });
  });

  test("an expired lease is lost only after another holder took over its work", async () => {
    const { store, time } = await open();
    const slow = await takeLease(store, "gateway-1", "one");
    const { run } = await begun(store, slow, ["1"]);
    time.now += 60_000;
    await store.runs.step({ runId: run.id, lease: slow, messages: [assistant("still here")] });

    const other = await takeLease(store, "gateway-2", "two");
    expect((await store.runs.interrupted()).map((entry) => entry.run.id)).toEqual([run.id]);
    expect(await store.runs.adopt({ runId: run.id, lease: other })).toMatchObject({ attempts: 2 });
    // Its own name was never taken, and it is fenced all the same.
    expect(await store.leases.renew([slow], 30_000)).toHaveLength(1);
    await expect(store.runs.step({ runId: run.id, lease: slow, messages: [] })).rejects.toMatchObject({
      code: "fenced",
    });
  });

  test("an ended run rejects writes, and an error names an unknown tool call", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const done = await answered(store, lease, "1");
    await expect(store.runs.step({ runId: done.id, lease, messages: [] })).rejects.toMatchObject({
      code: "conflict",
    });
    const { run } = await begun(store, lease, ["2"]);
    await expect(store.runs.toolStarted({ runId: run.id, lease, callIds: ["c9"] })).rejects.toThrow("c9");
  });

  test("runs are listed newest first", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const ids = [];
    for (const text of ["1", "2", "3"]) ids.push((await answered(store, lease, text)).id);
    await answered(store, lease, "4", "another");
    const [first, second, third] = ids;
    expect((await store.runs.list({ sessionKey: key })).map((run) => run.id)).toEqual([third, second, first]);
    expect((await store.runs.list({ limit: 1 })).map((run) => run.sessionKey)).toEqual(["another"]);
    if (third === undefined) throw new Error("three runs");
    expect((await store.runs.list({ before: third })).map((run) => run.id)).toEqual([second, first]);
  });
};
