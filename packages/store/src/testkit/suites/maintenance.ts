import type { Suite } from "./suite.ts";
import { accepted, answered, begun, event, reply, seed, takeLease } from "./support.ts";

const day = 86_400_000;

export const maintenanceSuite: Suite = ({ test, expect, open }) => {
  test("pruning removes only old and finished data", async () => {
    const { store, time } = await open();
    let lease = await takeLease(store);
    await answered(store, lease, "old", "a");
    await store.sessions.reset("a", lease);
    await answered(store, lease, "older generation gone", "a");
    for (let sent = 0; sent < 2; sent += 1)
      for (const row of (await store.outbox.claimDue({ lease, limit: 9 })).rows)
        await store.outbox.markSent(row.id, lease);
    const waiting = await accepted(store, "waits", "b");
    const { run } = await begun(store, lease, ["runs"], "c");
    const [unsent] = await store.outbox.enqueue([reply("unsent", "other")], { lease });
    if (unsent === undefined) throw new Error("one row");
    await store.traces.append("m1", [{ stage: "intake", data: 1 }]);
    await store.traces.read("m1");
    await store.kv.set("n", "short", 1, 1000);
    await store.kv.set("n", "long", 1);

    const { usedBytes, ...nothing } = await store.maintenance.prune();
    expect(Object.values(nothing).every((count) => count === 0)).toBe(true);
    expect(usedBytes).toBeGreaterThan(1_000);
    time.now += 100 * day;
    lease = await takeLease(store);
    await answered(store, lease, "recent", "d");
    expect(await store.maintenance.prune()).toEqual({
      inbox: 2,
      dedupe: 8,
      runs: 2,
      outbox: 2,
      traces: 1,
      messages: 2,
      sessions: 0,
      kv: 1,
      approvals: 0,
      usedBytes: expect.any(Number),
    });
    expect(await store.inbox.get(waiting)).toMatchObject({ state: "queued", payload: { text: "waits" } });
    expect(await store.runs.inspect(run.id)).toMatchObject({
      run: { state: "running" },
      inbox: [{ eventId: "ev-runs" }],
    });
    expect(await store.outbox.get(unsent.id)).toMatchObject({ state: "pending" });
    expect(await store.sessions.history("a")).toHaveLength(2);
    expect(await store.sessions.transcript("a")).toHaveLength(2);
    expect((await store.maintenance.prune({ idleSessionsMs: day })).sessions).toBe(1);
    expect((await store.sessions.list()).map((session) => session.key).sort()).toEqual(["c", "d"]);
  });

  test("deduplication keys outlive their rows and are kept for at least a week", async () => {
    const { store, time } = await open();
    const id = await accepted(store, "1");
    await store.inbox.settle(id, "ignored");
    await accepted(store, "newest");
    time.now += 6 * day;
    await store.maintenance.prune({ inboxMs: day, dedupeMs: 0 });
    expect(await store.inbox.get(id)).toBeUndefined();
    expect(await store.inbox.accept(event("1"))).toEqual({ outcome: "duplicate" });
    time.now += 2 * day;
    await store.maintenance.prune({ inboxMs: day, dedupeMs: 0 });
    expect(await store.inbox.accept(event("1"))).toMatchObject({ outcome: "accepted" });
  });

  test("row numbers are never reused after pruning", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    const run = await answered(store, lease, "1");
    await store.sessions.reset(seed().key, lease);
    time.now += 365 * day;
    await store.maintenance.prune();
    const next = await answered(store, lease, "2");
    expect(next.id.slice(-8) > run.id.slice(-8)).toBe(true);
    expect(await store.inbox.accept(event("3"))).toMatchObject({ outcome: "accepted", seq: 3 });
    expect((await store.sessions.history(seed().key)).map((entry) => entry.message)).toEqual([
      { role: "user", content: "2" },
      { role: "assistant", content: "re: 2" },
    ]);
  });

  test("group history is pruned like hidden messages", async () => {
    const { store, time } = await open();
    const said = (id: string) => ({ id, senderId: "ann", body: id, at: time.now });
    await store.groupHistory.push("quiet thread", said("old"));
    time.now += 60 * day;
    await store.groupHistory.push("busy thread", said("young"));
    time.now += 40 * day;
    expect((await store.maintenance.prune()).messages).toBe(1);
    expect(await store.groupHistory.list("quiet thread")).toEqual([]);
    expect(await store.groupHistory.list("busy thread")).toHaveLength(1);
  });

  test("old routes are pruned although the configuration is the same", async () => {
    const { store, time } = await open();
    await store.routes.put("c", [{ digest: "old", route: 1 }]);
    time.now += 20 * day;
    await store.routes.put("c", [{ digest: "young", route: 2 }]);
    time.now += 20 * day;
    await store.maintenance.prune();
    expect(await store.routes.load("c")).toEqual([{ digest: "young", route: 2 }]);
  });

  test("rows with a time in the future do not block pruning of later rows", async () => {
    const { store, time } = await open();
    const note = async (subject: string) => {
      await store.traces.append(subject, [{ stage: "s", data: 1 }]);
      await store.traces.read(subject);
    };
    time.now += 365 * day;
    for (let i = 0; i < 300; i += 1) await note(`m${i}`);
    time.now -= 365 * day;
    await note("behind");
    time.now += 30 * day;
    expect((await store.maintenance.prune()).traces).toBe(1);
    expect(await store.traces.read("behind")).toEqual([]);
  });

  test("traces are limited by number", async () => {
    const { store } = await open();
    for (let i = 0; i < 5; i += 1) {
      await store.traces.append(`m${i}`, [{ stage: "s", data: i }]);
      await store.traces.read(`m${i}`);
    }
    expect((await store.maintenance.prune({ traceRows: 2 })).traces).toBe(3);
    expect(await store.traces.read("m2")).toEqual([]);
    expect(await store.traces.read("m3")).toHaveLength(1);
  });

  test("traces are limited by size", async () => {
    const { store } = await open();
    for (let i = 0; i < 1_005; i += 1)
      await store.traces.append(`m${i}`, [{ stage: "s", data: "x".repeat(1_000) }]);
    await store.traces.read("m0");
    // A row takes a little over a thousand bytes.
    expect((await store.maintenance.prune({ traceBytes: 1_003 * 1_050 })).traces).toBeLessThan(15);
    expect((await store.maintenance.prune({ traceBytes: 3_500 })).traces).toBeGreaterThan(900);
    expect(await store.traces.read("m1001")).toEqual([]);
    expect(await store.traces.read("m1002")).toHaveLength(1);
    expect((await store.maintenance.prune({ traceBytes: 3_500 })).traces).toBe(0);
  });

  test("a database that is too large is pruned earlier, without unfinished work", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    const long = "x".repeat(20_000);
    for (let i = 0; i < 40; i += 1) {
      await answered(store, lease, `${i} ${long}`, "kept");
      for (const row of (await store.outbox.claimDue({ lease, limit: 9 })).rows)
        await store.outbox.markSent(row.id, lease);
      await store.traces.append(`m${i}`, [{ stage: "s", data: long }]);
      time.now += day / 10;
    }
    await store.traces.read("m0");
    const waits = await accepted(store, "waits", "b");
    const before = await store.maintenance.prune();
    expect(before).toMatchObject({ inbox: 0, runs: 0, outbox: 0, traces: 0, messages: 0 });
    const half = await store.maintenance.prune({ databaseBytes: before.usedBytes * 0.8 });
    expect(half.usedBytes).toBeLessThan(before.usedBytes * 0.8);
    expect(half.inbox).toBeGreaterThan(0);
    expect(half.inbox).toBeLessThan(40);
    const all = await store.maintenance.prune({ databaseBytes: 1 });
    expect(all.sessions + all.dedupe).toBe(0);
    expect(await store.sessions.history("kept")).toHaveLength(80);
    expect(await store.inbox.get(waits)).toMatchObject({ state: "queued" });
    expect(await store.inbox.accept(event(`0 ${long}`))).toMatchObject({ outcome: "duplicate" });
  });

  for (const retention of [{ databaseBytes: 1 }, { inboxMs: 60_000, runsMs: 60_000 }])
    test(`messages of an unsent reply are kept until it is sent or given up: ${JSON.stringify(retention)}`, async () => {
      const { store, time } = await open();
      let lease = await takeLease(store);
      const expiresAt = time.now + day;
      const { run, inboxIds } = await begun(store, lease, ["1", "2"], "a");
      await store.runs.finish({
        runId: run.id,
        lease,
        outcome: "completed",
        outbox: [{ ...reply("re", "first"), expiresAt }],
        inbox: inboxIds.map((id) => ({ id, state: "replied" })),
      });
      const commands = [await accepted(store, "3", "a"), await accepted(store, "4", "a")];
      for (const id of commands) await store.inbox.settle(id, "replied");
      await store.outbox.enqueue([{ ...reply("both", "second"), expiresAt, answers: commands }], { lease });
      await answered(store, lease, "is sent", "b");
      const [waits, fails, sent] = (await store.outbox.claimDue({ lease, limit: 9 })).rows;
      if (waits === undefined || fails === undefined || sent === undefined) throw new Error("three are due");
      await store.outbox.retryAt(waits.id, lease, expiresAt);
      await store.outbox.markSent(sent.id, lease);
      await answered(store, lease, "newest", "b");

      time.now += 3 * 3_600_000;
      expect(await store.maintenance.prune(retention)).toMatchObject({ inbox: 1, runs: 1 });
      time.now = expiresAt;
      lease = await takeLease(store);
      const [overdue] = await store.outbox.overdue();
      expect(await store.outbox.awaiting(overdue?.id ?? "")).toEqual(inboxIds);
      await store.outbox.expire([overdue?.id ?? ""], lease);
      await store.outbox.claimDue({ lease, limit: 9 });
      expect(await store.outbox.awaiting(fails.id)).toEqual(commands);
      await store.outbox.dead(fails.id, lease, "refused");
      expect(await store.maintenance.prune(retention)).toMatchObject({ inbox: 4, runs: 1 });
    });

  test("sessions are limited by number, except those with waiting messages", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    for (const key of ["a", "b", "c", "d"]) {
      await answered(store, lease, key, key);
      time.now += 1_000;
    }
    await accepted(store, "waits", "a");
    expect((await store.maintenance.prune({ sessions: 4 })).sessions).toBe(0);
    expect((await store.maintenance.prune({ sessions: 2 })).sessions).toBe(1);
    expect((await store.sessions.list()).map(({ key }) => key)).toEqual(["d", "c", "a"]);
    time.now += 100 * day;
    expect((await store.maintenance.prune({ idleSessionsMs: day })).sessions).toBe(2);
    expect((await store.sessions.list()).map(({ key }) => key)).toEqual(["a"]);
  });

  for (const retention of [{ idleSessionsMs: day }, { sessions: 1 }])
    test(`a session that gets a message during pruning is kept: ${JSON.stringify(retention)}`, async () => {
      const { store, time } = await open();
      const keys = Array.from({ length: 100 }, (_, i) => `k${String(i).padStart(2, "0")}`);
      for (const key of keys) await store.sessions.ensure(seed(key));
      time.now += 2 * day;
      await store.sessions.ensure(seed("newest"));
      const pruning = store.maintenance.prune(retention);
      while ((await store.sessions.get("k00")) !== undefined)
        await new Promise((resolve) => setImmediate(resolve));
      expect(await store.sessions.get("k99")).toBeDefined();
      await accepted(store, "comes meanwhile", "k99");
      expect((await pruning).sessions).toBe(99);
      expect(await store.sessions.get("k99")).toBeDefined();
    });

  test("statistics count unfinished work", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    await store.inbox.accept(event("routed later"));
    await accepted(store, "waits", "b");
    await begun(store, lease, ["runs"]);
    await answered(store, lease, "done", "c");
    expect(await store.maintenance.stats()).toMatchObject({
      inbox: { accepted: 1, queued: 1, running: 1 },
      outbox: { pending: 1, sending: 0, uncertain: 0, dead: 0, expired: 0 },
      runsActive: 1,
    });
  });
};
