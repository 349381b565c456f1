import type { Suite } from "./suite.ts";
import { answered, begun, seed, takeLease } from "./support.ts";

const said = (content: string) => ({ role: "user", content });

export const sessionsSuite: Suite = ({ test, expect, open }) => {
  test("a session is created once, and its settings can be changed", async () => {
    const { store, time } = await open();
    const made = await store.sessions.ensure({ ...seed(), title: "One" });
    expect(made).toMatchObject({ ...seed(), title: "One", generation: 0, lastSeq: 0, messageCount: 0 });
    expect(await store.sessions.ensure(seed())).toEqual(made);
    time.now += 1000;
    const patched = await store.sessions.patch(seed().key, {
      model: "anthropic/x",
      title: null,
      data: { a: 1 },
    });
    expect(patched).toMatchObject({ model: "anthropic/x", data: { a: 1 }, updatedAt: time.now });
    expect(patched.title).toBeUndefined();
    expect((await store.sessions.patch(seed().key, { model: null }))?.model).toBeUndefined();
    expect(await store.sessions.get("nobody")).toBeUndefined();
    await expect(store.sessions.patch("nobody", {})).rejects.toMatchObject({ code: "not_found" });
  });

  test("the history has the appended messages, oldest first, or the newest of them", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    await store.sessions.ensure(seed());
    await store.sessions.append(seed().key, [said("1"), said("2")], lease);
    const session = await store.sessions.append(seed().key, [said("3")], lease);
    expect(session).toMatchObject({ lastSeq: 3, messageCount: 3 });
    const history = await store.sessions.history(seed().key);
    expect(history.map((entry) => [entry.seq, entry.message])).toEqual([
      [1, said("1")],
      [2, said("2")],
      [3, said("3")],
    ]);
    const newest = await store.sessions.history(seed().key, { limit: 2 });
    expect(newest.map((entry) => entry.seq)).toEqual([2, 3]);
    expect(await store.sessions.history("nobody")).toEqual([]);
  });

  test("a summary replaces messages in the history, and the transcript keeps them", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const { key } = await store.sessions.ensure(seed());
    await store.sessions.append(key, ["1", "2", "3", "4"].map(said), lease);
    const summary = { role: "compactionSummary", summary: "1 to 2" };
    expect(await store.sessions.compact(key, { summary, upTo: 2, lease })).toMatchObject({ messageCount: 3 });
    await store.sessions.append(key, [said("6")], lease);
    const bodies = async () => (await store.sessions.history(key)).map((entry) => entry.message);
    expect(await bodies()).toEqual([summary, said("3"), said("4"), said("6")]);
    expect((await store.sessions.history(key, { limit: 3 })).map((entry) => entry.message)).toEqual(
      ["3", "4", "6"].map(said),
    );

    const second = { role: "compactionSummary", summary: "1 to 4" };
    await expect(store.sessions.compact(key, { summary: second, upTo: 2, lease })).rejects.toMatchObject({
      code: "conflict",
    });
    expect(await store.sessions.compact(key, { summary: second, upTo: 4, lease })).toMatchObject({
      messageCount: 2,
    });
    expect(await bodies()).toEqual([second, said("6")]);

    const transcript = await store.sessions.transcript(key);
    expect(transcript.map((entry) => entry.seq)).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect(transcript.filter((entry) => entry.compaction).map((entry) => entry.seq)).toEqual([7, 5]);
    expect((await store.sessions.transcript(key, { before: 4, limit: 2 })).map((entry) => entry.seq)).toEqual(
      [3, 2],
    );
  });

  test("a reset starts a new generation and keeps the transcript", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    const { key } = await store.sessions.ensure(seed());
    await store.sessions.append(key, [said("old")], lease);
    const fresh = await store.sessions.reset(key, lease);
    expect(fresh).toMatchObject({ generation: 1, resetAt: time.now, messageCount: 0, lastSeq: 1 });
    expect(await store.sessions.history(key)).toEqual([]);
    await store.sessions.append(key, [said("new")], lease);
    expect((await store.sessions.history(key)).map((entry) => entry.message)).toEqual([said("new")]);
    const transcript = await store.sessions.transcript(key);
    expect(transcript.map((entry) => [entry.generation, entry.message])).toEqual([
      [1, said("new")],
      [0, said("old")],
    ]);
  });

  test("a session cannot be changed by others during a run", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const other = await takeLease(store, "gateway-2", "other");
    const { key } = seed();
    const { run } = await begun(store, lease, ["hello"]);
    expect(await store.sessions.get(key)).toMatchObject({ activeRun: run.id, lastSeq: 1 });
    await expect(store.sessions.append(key, [said("x")], other)).rejects.toMatchObject({ code: "busy" });
    await expect(store.sessions.reset(key, lease)).rejects.toMatchObject({ code: "busy" });
    await expect(store.sessions.remove(key, lease)).rejects.toMatchObject({ code: "busy" });
    // The holder may compact in the middle of its run.
    const summary = { role: "compactionSummary", summary: "so far" };
    await store.sessions.compact(key, { summary, upTo: 1, lease });
    await store.sessions.append(key, [said("y")], lease);
    expect((await store.sessions.history(key)).map((entry) => entry.message)).toEqual([summary, said("y")]);
    expect((await store.runs.inspect(run.id))?.messages.map((entry) => entry.seq)).toEqual([1, 2, 3]);
  });

  test("a removed session leaves no rows", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    await answered(store, lease, "1", "a");
    await answered(store, lease, "2", "b");
    expect(await store.sessions.remove("a", lease)).toBe(true);
    expect(await store.sessions.remove("a", lease)).toBe(false);
    expect(await store.sessions.get("a")).toBeUndefined();
    expect(await store.sessions.transcript("a")).toEqual([]);
    await store.sessions.ensure(seed("a"));
    expect(await store.sessions.transcript("a")).toEqual([]);
    expect(await store.sessions.history("b")).toHaveLength(2);
  });

  test("sessions are listed by their latest activity", async () => {
    const { store, time } = await open();
    await store.sessions.ensure(seed("a"));
    time.now += 1;
    await store.sessions.ensure({ ...seed("b"), agentId: "writer" });
    time.now += 1;
    await store.sessions.ensure({ ...seed("c"), channel: "slack" });
    const keys = async (filter?: Parameters<typeof store.sessions.list>[0]) =>
      (await store.sessions.list(filter)).map((session) => session.key);
    expect(await keys()).toEqual(["c", "b", "a"]);
    expect(await keys({ agentId: "coder" })).toEqual(["c", "a"]);
    expect(await keys({ channel: "slack" })).toEqual(["c"]);
    expect(await keys({ behind: await store.sessions.ensure({ ...seed("c"), channel: "slack" }) })).toEqual([
      "b",
      "a",
    ]);
    expect(await keys({ since: time.now - 1 })).toEqual(["c", "b"]);
  });
};
