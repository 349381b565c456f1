import Sqlite from "better-sqlite3";
import { expect, test, vi } from "vitest";
import { openStore, type SqliteStore } from "../src/index.ts";
import { answered, reply, takeLease, temporaryFolder, testStore } from "./support.ts";

/** Every statement that `look` runs, as SQLite's planner carries it out. */
async function plansOf(look: (store: SqliteStore) => Promise<unknown>): Promise<Map<string, string[]>> {
  const path = `${temporaryFolder()}/a.db`;
  const store = await openStore({ path });
  const lease = await takeLease(store);
  for (let i = 0; i < 20; i += 1) await answered(store, lease, String(i), `s${i % 4}`);
  await store.traces.append("one", [{ stage: "intake", data: 1 }]);
  const prepare = vi.spyOn(Sqlite.prototype, "prepare");
  await look(store);
  const texts = new Set(prepare.mock.calls.map(([text]) => text));
  prepare.mockRestore();
  await store.close();
  const raw = new Sqlite(path, { readonly: true });
  const reads = [...texts].filter((text) => /^\s*(select|with)/i.test(text));
  const plans = reads.map((text): [string, string[]] => {
    const bound = Object.fromEntries([...text.matchAll(/@(\w+)/g)].map(([, name]) => [name, 1]));
    const values = [...text.matchAll(/\?/g)].map(() => 1);
    const explain = raw.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`);
    return [
      text,
      explain.all(...values, ...(Object.keys(bound).length > 0 ? [bound] : [])).map((row) => row.detail),
    ];
  });
  raw.close();
  return new Map(plans);
}

/** Going through a whole table; the rows that a recursive query has found itself, and a list of values, are none. */
const wholeTable = (detail: string): boolean => /^SCAN (?!chain\b|m\b|json_each)/.test(detail);

test.each<[string, (store: SqliteStore) => Promise<unknown>]>([
  ["the list of sessions", (store) => store.sessions.list({ limit: 10 })],
  ["the list of an agent's sessions", (store) => store.sessions.list({ agentId: "coder", limit: 10 })],
  [
    "the last session with somebody",
    (store) => store.sessions.list({ channel: "feishu", peer: "ou_1", limit: 1 }),
  ],
  ["the runs of a session", (store) => store.runs.list({ sessionKey: "s1" })],
  ["the newest runs", (store) => store.runs.list({ limit: 5 })],
  ["a history", (store) => store.sessions.history("s1")],
  ["a page of a transcript", (store) => store.sessions.transcript("s1", { before: 5, limit: 3 })],
  ["a trace", (store) => store.traces.read("one")],
  ["what waits in a session", (store) => store.inbox.list({ state: "queued", sessionKey: "s1" })],
  ["the newest messages of a session", (store) => store.inbox.list({ sessionKey: "s1", limit: 5 })],
  ["the newest messages", (store) => store.inbox.list({ limit: 5 })],
])("%s uses an index", async (_, look) => {
  const plans = await plansOf(look);
  expect(plans.size).toBeGreaterThan(0);
  for (const [text, details] of plans)
    expect({ text, scans: details.filter(wholeTable) }).toEqual({ text, scans: [] });
});

test("sessions of a peer are found by an index", async () => {
  const plans = await plansOf((store) => store.sessions.list({ channel: "feishu", peer: "ou_1", limit: 1 }));
  const details = [...plans.values()].flat();
  expect(details.some((detail) => detail.includes("session_peer"))).toBe(true);
});

test("messages of a session are found by an index", async () => {
  const plans = await plansOf((store) => store.inbox.list({ sessionKey: "s1", limit: 5 }));
  const details = [...plans.values()].flat();
  expect(details.some((detail) => detail.includes("inbox_session"))).toBe(true);
});

test("unfinished messages are found by an index", async () => {
  const plans = await plansOf(async (store) => {
    for await (const _ of store.inbox.unfinished());
  });
  expect([...plans.values()].flat().some((detail) => detail.includes("inbox_open"))).toBe(true);
});

test.each(["accepted", "queued", "running"] as const)(
  "messages that are %s are found by the index of unfinished ones",
  async (state) => {
    const plans = await plansOf((store) => store.inbox.list({ state, limit: 5 }));
    expect([...plans.values()].flat().some((detail) => detail.includes("inbox_open"))).toBe(true);
  },
);

test("active work is counted without scanning sessions", async () => {
  const plans = await plansOf((store) => store.maintenance.stats());
  expect([...plans.values()].flat().filter((detail) => /^SCAN session\b/.test(detail))).toEqual([]);
});

test("runs of a session are found without scanning other runs", async () => {
  const plans = await plansOf((store) => store.runs.list({ sessionKey: "s1" }));
  const walks = [...plans.values()].flat().filter((detail) => /^SEARCH run .*rowid[<>]/.test(detail));
  expect(walks).toEqual([]);
});

test("usage is summed from the days of the query, not from runs", async () => {
  const today = { sender: "ann", from: Date.now() };
  const byPerson = await plansOf((store) => store.usage.sum({ by: "sender", ...today }));
  const byModel = await plansOf((store) => store.usage.sum({ by: "model", ...today }));
  const details = [...byPerson.values(), ...byModel.values()].flat();
  expect(details.filter((detail) => /^SCAN (run|usage_day|usage_model_day)\b/.test(detail))).toEqual([]);
});

test("a page of 500 messages takes a few queries, however many runs wrote them", async () => {
  const path = `${temporaryFolder()}/a.db`;
  const store = await openStore({ path, limits: { commitSpacingMs: 0 } });
  const lease = await takeLease(store);
  for (let i = 0; i < 250; i += 1) await answered(store, lease, String(i), "s");
  const memory = new Sqlite(":memory:");
  const statement: Sqlite.Statement = Object.getPrototypeOf(memory.prepare("SELECT 1"));
  const calls = [vi.spyOn(statement, "all"), vi.spyOn(statement, "get")];
  const page = await store.sessions.transcript("s", { limit: 500 });
  const runs = await store.runs.summaries([...new Set(page.flatMap((row) => row.runId ?? []))]);
  const queries = calls.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  vi.restoreAllMocks();
  await store.close();
  expect([page.length, runs.length]).toEqual([500, 250]);
  expect(runs.every(({ inbox }) => inbox.length === 1)).toBe(true);
  expect(queries).toBeGreaterThan(2);
  expect(queries).toBeLessThanOrEqual(6);
});

test("a claim does not read replies that wait for an offline account", async () => {
  const { store, time } = await testStore();
  const lease = await takeLease(store);
  const until = time.now + 60_000;
  const waiting = Array.from({ length: 500 }, (_, i) => ({ ...reply("later", `a${i}`), notBefore: until }));
  await store.outbox.enqueue([...waiting, reply("now", "b")], { lease });
  const memory = new Sqlite(":memory:");
  const all = vi.spyOn(Object.getPrototypeOf(memory.prepare("SELECT 1")), "all");
  const due = await store.outbox.claimDue({ lease, limit: 10 });
  await store.outbox.overdue();
  const read = all.mock.results.map(({ value }) => value.length);
  vi.restoreAllMocks();
  expect([due.rows.length, due.nextAt]).toEqual([1, until]);
  expect(read.length).toBeGreaterThan(1);
  expect(Math.max(...read)).toBeLessThan(5);
});

test("admin.prepare prepares every statement", async () => {
  const path = `${temporaryFolder()}/a.db`;
  const store = await openStore({ path });
  await store.admin.prepare();
  const prepare = vi.spyOn(Sqlite.prototype, "prepare");
  await answered(store, await takeLease(store), "one", "s");
  await store.sessions.history("s");
  const { calls } = prepare.mock;
  vi.restoreAllMocks();
  await store.close();
  expect(calls).toEqual([]);
});

test("statements that read are not planned again for each call", async () => {
  const prepare = vi.spyOn(Sqlite.prototype, "prepare");
  const { store } = await testStore();
  await answered(store, await takeLease(store), "one", "s");
  await store.groupHistory.list("g");
  await store.contexts.from("s", 1);
  await store.sessions.transcript("s", { limit: 5 });
  const texts = new Set(prepare.mock.calls.map(([text]) => text));
  vi.restoreAllMocks();
  const ordered = [...texts].filter((text) => /^(select|with)\b.*\b(order by|limit)\b/is.test(text));
  expect(ordered.length).toBeGreaterThan(3);
  expect(ordered.filter((text) => /\blimit [?@]/i.test(text) || /= [?@].*\border by\b/is.test(text))).toEqual(
    [],
  );
});
