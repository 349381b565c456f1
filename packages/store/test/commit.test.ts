import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import Sqlite from "better-sqlite3";
import { afterEach, expect, test, vi } from "vitest";
import { commitQueue } from "../src/commit-queue.ts";
import { wrapDatabase } from "../src/database.ts";
import { type FaultPoint, type InboxId, openStore, StoreError } from "../src/index.ts";
import {
  accepted,
  answered,
  begun,
  event,
  queuedIn,
  seed,
  takeLease,
  temporaryFolder,
  testStore,
} from "./support.ts";

/** A hook that fails as often as it is told to, at one kind of point. */
function planned(): {
  fail: (point: FaultPoint, skip?: number, error?: Error) => void;
  faults: (at: FaultPoint) => void;
} {
  let plan: { point: FaultPoint; skip: number; error: Error } | undefined;
  return {
    fail(point, skip = 0, error = new Error("planned")) {
      plan = { point, skip, error };
    },
    faults(at) {
      if (plan?.point !== at) return;
      plan.skip -= 1;
      if (plan.skip >= 0) return;
      const { error } = plan;
      plan = undefined;
      throw error;
    },
  };
}

afterEach(() => {
  vi.restoreAllMocks();
});

const tools = { mount: "mount", unmount: "umount" };

function full(): Error {
  return new Sqlite.SqliteError("database or disk is full", "SQLITE_FULL");
}

test("calls of one turn share a commit, and a failing call fails alone", async () => {
  const path = `${temporaryFolder()}/a.db`;
  const { store } = await testStore({ path });
  const lease = await takeLease(store);
  // However slow the machine is, no time passes within the turn.
  vi.spyOn(performance, "now").mockReturnValue(performance.now());
  const before = (await store.maintenance.stats()).commits;
  const results = await Promise.allSettled([
    store.inbox.accept(event("1", seed().key)),
    store.sessions.patch("nobody", { title: "x" }),
    store.sessions.append("nobody", ["x"], { name: "gateway", epoch: 99 }),
    store.inbox.accept(event("2", seed().key)),
    store.runs.begin({ session: seed("other"), lease, inboxIds: [], userMessages: ["x"] }),
  ]);
  expect(results.map((result) => result.status)).toEqual([
    "fulfilled",
    "rejected",
    "rejected",
    "fulfilled",
    "fulfilled",
  ]);
  expect((await store.maintenance.stats()).commits).toBe(before + 1);
  expect(await queuedIn(store, seed().key)).toHaveLength(2);
});

test("calls that take too long for one commit are committed in several", async () => {
  const { store } = await testStore({ path: `${temporaryFolder()}/a.db` });
  const before = (await store.maintenance.stats()).commits;
  let now = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => (now += 4));
  await Promise.all(Array.from({ length: 6 }, (_, n) => store.kv.set("n", String(n), n)));
  expect((await store.maintenance.stats()).commits).toBeGreaterThan(before + 1);
  expect(await store.kv.list("n")).toHaveLength(6);
});

test("commits are spaced under load unless that is disabled", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "performance"] });
  const commitsFor = async (spacingMs: number) => {
    const raw = new Sqlite(":memory:");
    const insert = raw.exec("CREATE TABLE t (n INTEGER)").prepare("INSERT INTO t VALUES (?)");
    const syncLog = () => new Promise<void>((resolve) => setTimeout(resolve, 1));
    const queue = commitQueue({ database: wrapDatabase(raw), syncLog, spacingMs });
    const writer = async (name: number) => {
      for (let i = 0; i < 50; i += 1) {
        await queue.write(() => insert.run(i));
        // Out of step with the others.
        await new Promise((resolve) => setTimeout(resolve, (i * name) % 4));
      }
    };
    const writers = Promise.all(Array.from({ length: 16 }, (_, name) => writer(name)));
    await vi.runAllTimersAsync();
    await writers;
    return queue.counts.commits;
  };
  try {
    const unspaced = await commitsFor(0);
    expect(await commitsFor(12)).toBeLessThan(unspaced / 2);
  } finally {
    vi.useRealTimers();
  }
});

test("a call that fails between two writes is rolled back without affecting others", async () => {
  const { fail, faults } = planned();
  const { store } = await testStore({ faults });
  const lease = await takeLease(store);
  for (let nth = 0; ; nth += 1) {
    const key = `s${nth}`;
    const id = await accepted(store, key, key);
    const texts = ["a", "b"];
    const neighbour = store.kv.set("n", "before", nth);
    // The neighbour writes once.
    fail("write", 1 + nth);
    const begin = store.runs.begin({ session: seed(key), lease, inboxIds: [id], userMessages: texts });
    const other = store.kv.set("n", "after", nth);
    const result = await begin.then(
      () => "begun",
      (error: unknown) => String(error),
    );
    await neighbour;
    await other.catch(() => {});
    expect(await store.kv.get("n", "before")).toBe(nth);
    if (result === "begun") {
      expect(nth).toBeGreaterThan(4);
      break;
    }
    expect(await store.inbox.get(id)).toMatchObject({ state: "queued" });
    expect(await store.sessions.get(key)).toBeUndefined();
    expect(await store.kv.get("n", "after")).toBe(nth);
    // The next try meets nothing of the first.
    expect(
      await store.runs.begin({ session: seed(key), lease, inboxIds: [id], userMessages: texts }),
    ).toMatchObject({
      outcome: "started",
      session: { lastSeq: 2 },
    });
  }
});

test("the end of a run is atomic, whichever write fails", async () => {
  const { fail, faults } = planned();
  const { store } = await testStore({ faults });
  const lease = await takeLease(store);
  for (let nth = 0; nth < 40; nth += 1) {
    const key = `s${nth}`;
    const { run, inboxIds } = await begun(store, lease, [key], key);
    const finish = () =>
      store.runs.finish({
        runId: run.id,
        lease,
        outcome: "completed",
        inbox: inboxIds.map((id) => ({ id, state: "replied" })),
        messages: ["done"],
        outbox: [{ channel: "c", account: "a", address: key, payload: 1 }],
        usage: { costMicros: 1 },
      });
    fail("write", nth);
    const ended = await finish().then(
      () => true,
      () => false,
    );
    if (ended) {
      expect(nth).toBeGreaterThan(5);
      return;
    }
    expect((await store.runs.inspect(run.id))?.messages).toHaveLength(1);
    expect(await store.runs.get(run.id)).toMatchObject({ state: "running" });
    expect(await queuedIn(store, key)).toEqual([]);
    expect(await store.outbox.list({ states: ["pending"] })).toHaveLength(nth);
    expect(await store.sessions.get(key)).toMatchObject({ lastSeq: 1, totals: { runs: 0 } });
    await finish();
  }
  throw new Error("it never got through");
});

test("a commit on a full disk rejects its calls, and later calls succeed", async () => {
  const { fail, faults } = planned();
  const { store } = await testStore({ path: `${temporaryFolder()}/a.db`, faults });
  fail("commit", 0, full());
  // No time passes, so that both calls are of one commit.
  vi.spyOn(performance, "now").mockReturnValue(performance.now());
  const results = await Promise.allSettled([store.inbox.accept(event("1")), store.inbox.accept(event("2"))]);
  for (const result of results)
    expect(result).toMatchObject({ status: "rejected", reason: { code: "disk_full" } });
  expect(await store.inbox.list()).toEqual([]);
  expect(await store.inbox.accept(event("1"))).toMatchObject({ outcome: "accepted" });
});

test("a failed sync rejects its calls and all later ones", async () => {
  const { fail, faults } = planned();
  const path = `${temporaryFolder()}/a.db`;
  const { store } = await testStore({ path, faults });
  await accepted(store, "1");
  fail("sync");
  await expect(store.inbox.accept(event("2"))).rejects.toMatchObject({ code: "io" });
  await expect(store.inbox.accept(event("3"))).rejects.toMatchObject({ code: "io" });
  await expect(store.inbox.list()).rejects.toMatchObject({ code: "io" });
  await store.close();
  const { store: again } = await testStore({ path });
  expect(await again.inbox.accept(event("1"))).toMatchObject({ outcome: "duplicate" });
});

/** A queue whose syncs take as long as they are told to. */
function slowlySynced() {
  const raw = new Sqlite(":memory:");
  const insert = raw.exec("CREATE TABLE t (n INTEGER)").prepare("INSERT INTO t VALUES (?)");
  const sync = Promise.withResolvers<void>();
  const queue = commitQueue({ database: wrapDatabase(raw), syncLog: () => sync.promise, spacingMs: 0 });
  return { queue, insert, sync };
}

test("an unsynced call resolves after the commit and causes no sync", async () => {
  const { queue, insert, sync } = slowlySynced();
  await queue.write(() => insert.run(1), "unsynced");
  expect(queue.counts).toMatchObject({ commits: 1, syncs: 0 });

  let synced = false;
  const other = queue.write(() => insert.run(2)).then(() => (synced = true));
  await queue.write(() => insert.run(3), "unsynced");
  expect({ ...queue.counts, synced }).toMatchObject({ commits: 2, syncs: 1, synced: false });
  sync.resolve();
  await other;
});

test("acceptAhead resolves after the commit, and onDisk after the sync", async () => {
  const { queue, insert, sync } = slowlySynced();
  const { result, onDisk } = await queue.writeAhead(() => insert.run(1).changes);
  let isOnDisk = false;
  const told = onDisk.then(() => (isOnDisk = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(result).toBe(1);
  expect({ ...queue.counts, isOnDisk }).toMatchObject({ commits: 1, syncs: 1, isOnDisk: false });
  sync.resolve();
  await told;
  expect(queue.counts).toMatchObject({ commits: 1, syncs: 1 });
});

test("an unsynced call is committed during a sync unless a synced call is waiting before it", async () => {
  const { queue, insert, sync } = slowlySynced();
  await queue.writeAhead(() => insert.run(1));
  await queue.write(() => insert.run(2), "unsynced");
  expect(queue.counts).toMatchObject({ commits: 2, syncs: 1 });
  const order: string[] = [];
  const synced = queue.write(() => order.push("synced"));
  const behind = queue.write(() => order.push("unsynced"), "unsynced");
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual([]);
  sync.resolve();
  await Promise.all([synced, behind]);
  expect(order).toEqual(["synced", "unsynced"]);
});

test("only onDisk rejects if the sync of acceptAhead fails", async () => {
  const { queue, insert, sync } = slowlySynced();
  const { onDisk } = await queue.writeAhead(() => insert.run(1));
  sync.reject(new Error("the disk is gone"));
  await expect(onDisk).rejects.toMatchObject({ code: "io" });
  await expect(queue.writeAhead(() => insert.run(2))).rejects.toMatchObject({ code: "io" });
});

test("acceptAhead rejects as a whole if its transaction fails", async () => {
  const { queue } = slowlySynced();
  const work = () => {
    throw new StoreError("conflict", "no");
  };
  await expect(queue.writeAhead(work)).rejects.toMatchObject({ code: "conflict" });
});

test("the begin of a run is not synced, and its end is", async () => {
  const { store } = await testStore({ path: `${temporaryFolder()}/a.db` });
  const lease = await takeLease(store);
  const syncs = async () => (await store.maintenance.stats()).syncs;
  const before = await syncs();
  const { run, inboxIds } = await begun(store, lease, ["1"]);
  const [id] = inboxIds as [InboxId];
  // That of the message, as it was accepted.
  expect(await syncs()).toBe(before + 1);
  await store.runs.finish({ runId: run.id, lease, outcome: "completed", inbox: [{ id, state: "silent" }] });
  expect(await syncs()).toBe(before + 2);
});

test("sequential messages write at most 50 KB each", async () => {
  const { store } = await testStore({ path: `${temporaryFolder()}/a.db` });
  const lease = await takeLease(store);
  const written = async () => (await store.admin.file()).walBytes;
  const messages = async (from: number) => {
    for (let i = from; i < from + 20; i += 1) await answered(store, lease, `message ${i}`);
  };
  await messages(0);
  const before = await written();
  await messages(20);
  expect((await written()) - before).toBeLessThan(20 * 50_000);
});

test("writers wait for another process's transaction without blocking the event loop", async () => {
  const path = `${temporaryFolder()}/a.db`;
  const { store } = await testStore({ path });
  const other = new Sqlite(path);
  other.exec("BEGIN IMMEDIATE");
  let turns = 0;
  const write = store.kv.set("a", "b", 1).then(() => turns);
  for (; turns < 20; turns += 1) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(await store.kv.get("a", "b")).toBeUndefined();
  other.exec("COMMIT");
  other.close();
  expect(await write).toBe(20);
});

test("two stores on one file see each other's writes", async () => {
  const path = `${temporaryFolder()}/a.db`;
  const one = (await testStore({ path })).store;
  const two = (await testStore({ path })).store;
  const lease = await takeLease(one);
  await Promise.all([
    ...Array.from({ length: 30 }, (_, i) => answered(one, lease, `a${i}`, `one-${i}`)),
    ...Array.from({ length: 30 }, (_, i) => answered(two, lease, `b${i}`, `two-${i}`)),
  ]);
  expect(await one.inbox.accept(event("b7"))).toMatchObject({ outcome: "duplicate", state: "replied" });
  expect(await two.inbox.accept(event("a7"))).toMatchObject({ outcome: "duplicate", state: "replied" });
  const lastSeqs = (await two.sessions.list()).map(({ lastSeq }) => lastSeq);
  expect(lastSeqs.reduce((sum, lastSeq) => sum + lastSeq, 0)).toBe(120);
  expect(await one.admin.integrity()).toEqual({ ok: true, problems: [] });
  const taken = await takeLease(two, "gateway", "test");
  await expect(answered(one, lease, "late")).rejects.toMatchObject({ code: "fenced" });
  await answered(one, taken, "later");
});

test("a full file system leaves no partial write, and writing continues when there is space", async (context) => {
  const folder = temporaryFolder();
  const mounted = spawnSync(tools.mount, ["-t", "tmpfs", "-o", "size=600k", "tmpfs", folder]);
  if (mounted.status !== 0) {
    context.skip("a small file system cannot be mounted here");
    return;
  }
  try {
    const store = await openStore({ path: `${folder}/a.db` });
    const lease = await takeLease(store);
    fs.writeFileSync(`${folder}/ballast`, Buffer.alloc(150_000));
    const ok: string[] = [];
    let failure: unknown;
    for (let i = 0; failure === undefined && i < 2000; i += 1) {
      await answered(store, lease, String(i), `s${i % 7}`).then(
        () => ok.push(String(i)),
        (error: unknown) => {
          failure = error;
        },
      );
    }
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure).toMatchObject({ code: "disk_full" });
    expect(await store.admin.integrity()).toEqual({ ok: true, problems: [] });
    const seen = async () =>
      (await store.inbox.list({ state: "replied", limit: 5000 })).map((row) => row.eventId);
    expect((await seen()).reverse()).toEqual(ok.map((i) => `ev-${i}`));
    fs.rmSync(`${folder}/ballast`);
    await answered(store, lease, "after", "fresh");
    expect(await seen()).toHaveLength(ok.length + 1);
    await store.close();
  } finally {
    execFileSync(tools.unmount, ["-l", folder]);
  }
});

test("a failed checkpoint is logged, and the store continues", async () => {
  const warnings: string[] = [];
  const logger = { info() {}, warn: (_: unknown, text: string) => warnings.push(text) };
  const raw = new Sqlite(":memory:");
  const queue = commitQueue({
    database: wrapDatabase(raw),
    spacingMs: 0,
    logger,
    afterBatch: async () => {
      throw new Error("no log");
    },
  });
  expect(await queue.write(() => "first")).toBe("first");
  expect(await queue.write(() => "second")).toBe("second");
  await queue.close();
  expect(warnings).toHaveLength(2);
  raw.close();
});
