import Sqlite from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { openStore, type SqliteStore, type StoreOptions } from "../src/index.ts";
import {
  accepted,
  answered,
  begun,
  event,
  reply,
  seed,
  takeLease,
  temporaryFolder,
  testStore,
} from "./support.ts";

const key = "agent:coder:one";

type Fill = (store: SqliteStore) => Promise<void>;
type Kind = "inbound" | "outbound" | "message";

/** A store whose file is damaged while it is closed. */
async function damagedBy(damage: string, fill: Fill, logger?: StoreOptions["logger"]): Promise<SqliteStore> {
  const path = `${temporaryFolder()}/a.db`;
  const first = await openStore({ path, clock: () => Date.UTC(2026, 10, 21) });
  await fill(first);
  await first.close();
  const raw = new Sqlite(path);
  raw.exec(damage);
  raw.close();
  return (await testStore({ path, ...(logger === undefined ? {} : { logger }) })).store;
}

describe.each([
  ["missing", "DELETE FROM entry"],
  ["no JSON any more", "UPDATE entry SET body = substr(body, 2)"],
])("content that is %s", (_, damage) => {
  const damaged = (kind: Kind, fill: Fill) =>
    damagedBy(`${damage} WHERE id = (SELECT min(id) FROM entry WHERE kind = '${kind}')`, fill);

  test("a reply without content is given up, and later replies are sent", async () => {
    const store = await damaged("outbound", async (full) => {
      const lease = await takeLease(full);
      const { run, inboxIds } = await begun(full, lease, ["one"]);
      await full.runs.finish({
        runId: run.id,
        lease,
        outcome: "completed",
        inbox: inboxIds.map((id) => ({ id, state: "replied" })),
        outbox: [reply("lost")],
      });
      await full.outbox.enqueue([reply("behind it"), reply("elsewhere", "oc_2")], { lease });
    });
    const lease = await takeLease(store);
    const first = await store.outbox.claimDue({ lease, limit: 10 });
    expect(first.rows.map((row) => row.payload)).toEqual([{ text: "elsewhere" }]);
    expect(first.nextAt).toBeDefined();
    const second = await store.outbox.claimDue({ lease, limit: 10 });
    expect(second.rows.map((row) => row.payload)).toEqual([{ text: "behind it" }]);
    expect((await store.maintenance.stats()).outbox.dead).toBe(1);
    expect(await store.inbox.list()).toMatchObject([
      { state: "unreported", detail: { rule: "undelivered" } },
    ]);
  });

  test("a message without content ends, and other messages are answered", async () => {
    const store = await damaged("inbound", async (full) => {
      await accepted(full, "lost", key);
      await accepted(full, "whole", key);
    });
    const due = await store.inbox.claimDue(await takeLease(store));
    expect(due.map((row) => row.payload)).toEqual([{ text: "whole" }]);
    expect((await store.maintenance.stats()).inbox.queued).toBe(1);
    expect(await store.inbox.accept(event("lost", key))).toMatchObject({
      outcome: "duplicate",
      state: "failed-reported",
    });
  });

  test("unfinished messages omit one without content and include all others", async () => {
    const store = await damaged("inbound", async (full) => {
      await accepted(full, "lost", key);
      await accepted(full, "whole", key);
    });
    const unfinished: unknown[] = [];
    for await (const { payload } of store.inbox.unfinished()) unfinished.push(payload);
    expect(unfinished).toEqual([{ text: "whole" }]);
  });

  test("an unrouted message without content does not prevent a start", async () => {
    const store = await damaged("inbound", async (full) => {
      await full.inbox.accept(event("lost"));
      await full.inbox.accept(event("whole"));
    });
    const due = await store.inbox.claimDue(await takeLease(store));
    expect(due.map((row) => row.payload)).toEqual([{ text: "whole" }]);
    expect((await store.maintenance.stats()).inbox.accepted).toBe(1);
  });

  test("a run ends although one of its messages has no content", async () => {
    const store = await damaged("inbound", async (full) => {
      await begun(full, await takeLease(full), ["lost", "whole"]);
    });
    const lease = await takeLease(store);
    const [interrupted] = await store.runs.interrupted();
    if (interrupted === undefined) throw new Error("no run");
    expect(interrupted.inbox.map((row) => row.payload)).toEqual([{ text: "whole" }]);
    await store.runs.adopt({ runId: interrupted.run.id, lease });
    await store.runs.finish({
      runId: interrupted.run.id,
      lease,
      outcome: "completed",
      inbox: interrupted.inbox.map(({ id }) => ({ id, state: "replied" })),
    });
    expect((await store.sessions.get(seed().key))?.activeRun).toBeUndefined();
    expect((await store.maintenance.stats()).inbox).toEqual({ accepted: 0, queued: 0, running: 0 });
  });

  test("a run without messages can be ended and does not block others", async () => {
    const store = await damaged("message", async (full) => {
      const lease = await takeLease(full);
      await begun(full, lease, ["lost"], "agent:coder:one");
      await begun(full, lease, ["whole"], "agent:coder:two");
    });
    const lease = await takeLease(store);
    const [lost, whole] = await store.runs.interrupted();
    if (lost === undefined || whole === undefined) throw new Error("no runs");
    expect(lost.messages).toEqual([]);
    expect(whole.messages.map((row) => row.message)).toEqual([{ role: "user", content: "whole" }]);
    await store.runs.adopt({ runId: lost.run.id, lease });
    expect((await store.runs.inspect(lost.run.id))?.inbox).toHaveLength(1);
  });
});

test.each([
  ["notes", "UPDATE run SET meta = substr(meta, 2) WHERE n = 1"],
  ["calls", "UPDATE tool_call SET args = substr(args, 2) WHERE run = 1"],
])("a run with damaged %s does not block others", async (_, damage) => {
  const store = await damagedBy(damage, async (full) => {
    const lease = await takeLease(full);
    for (const session of [seed("agent:coder:one"), seed("agent:coder:two")]) {
      const given = { session, lease, inboxIds: [], userMessages: [], meta: { model: "m" } };
      const answer = await full.runs.begin(given);
      const intents = [{ callId: "c", name: "look", args: { at: "it" }, effects: "none" }] as const;
      await full.runs.step({ runId: answer.run.id, lease, messages: [], intents });
    }
  });
  await takeLease(store);
  const whole = { run: { meta: { model: "m" } }, calls: [{ args: { at: "it" } }] };
  expect(await store.runs.interrupted()).toMatchObject([{}, whole]);
  expect(await store.runs.active()).toHaveLength(2);
});

/** Cuts a list of one row, so that it is no JSON any more. */
const cut = (table: string, column: string, where: string) =>
  `UPDATE ${table} SET ${column} = substr(${column}, 2) WHERE ${where}`;

test("a reply with damaged receipts is given up, and later replies are sent", async () => {
  const store = await damagedBy(cut("outbox", "receipts", "seq = 1"), async (full) => {
    const lease = await takeLease(full);
    await full.outbox.enqueue([reply("lost"), reply("behind it"), reply("elsewhere", "oc_2")], { lease });
  });
  const lease = await takeLease(store);
  const claims = [
    await store.outbox.claimDue({ lease, limit: 10 }),
    await store.outbox.claimDue({ lease, limit: 10 }),
  ];
  expect(claims.flatMap(({ rows }) => rows.map((row) => row.payload))).toEqual([
    { text: "elsewhere" },
    { text: "behind it" },
  ]);
  expect(await store.outbox.list()).toMatchObject([
    { state: "dead", payload: { text: "lost" }, receipts: [] },
  ]);
});

test("a reply is found by its receipt although those of another are damaged", async () => {
  const store = await damagedBy(cut("outbox", "receipts", "seq = 1"), async (full) => {
    const lease = await takeLease(full);
    const added = await full.outbox.enqueue([reply("lost"), reply("whole", "oc_2")], { lease });
    await full.outbox.claimDue({ lease, limit: 10 });
    for (const { id } of added)
      await full.outbox.markSent(id, lease, [{ part: 0, receipt: { messageId: "om_1" } }]);
  });
  const sent = { channel: "feishu", account: "main", messageId: "om_1" };
  expect(await store.outbox.ofMessage(sent)).toMatchObject({ payload: { text: "whole" } });
});

test("a reply is sent although its list of answered messages is damaged", async () => {
  const store = await damagedBy(cut("outbox", "answers", "seq = 1"), async (full) => {
    const lease = await takeLease(full);
    const answers = [await accepted(full, "asked", key)];
    await full.outbox.enqueue([{ ...reply("answer"), answers }, reply("elsewhere", "oc_2")], { lease });
  });
  const { rows } = await store.outbox.claimDue({ lease: await takeLease(store), limit: 10 });
  expect(rows.map((row) => row.payload)).toEqual([{ text: "answer" }, { text: "elsewhere" }]);
  expect(await store.outbox.answers(rows[0]?.id ?? "")).toEqual([]);
});

test("a run with a damaged list of messages still answers them and does not block others", async () => {
  const store = await damagedBy(cut("run", "inbox", "n = 1"), async (full) => {
    const lease = await takeLease(full);
    await begun(full, lease, ["one", "two"], "agent:coder:one");
    await begun(full, lease, ["three"], "agent:coder:two");
  });
  const lease = await takeLease(store);
  const interrupted = await store.runs.interrupted();
  expect(interrupted.map(({ inbox }) => inbox.map((row) => row.payload))).toEqual([
    [{ text: "one" }, { text: "two" }],
    [{ text: "three" }],
  ]);
  const [first] = interrupted;
  if (first === undefined) throw new Error("no run");
  await store.runs.adopt({ runId: first.run.id, lease });
  await store.runs.finish({
    runId: first.run.id,
    lease,
    outcome: "completed",
    inbox: first.inbox.map(({ id }) => ({ id, state: "replied" })),
  });
  expect((await store.maintenance.stats()).inbox).toMatchObject({ running: 1 });
});

test("a run with a damaged list of replies gives the next reply a new key", async () => {
  const store = await damagedBy(cut("run", "outbox", "n = 1"), async (full) => {
    const lease = await takeLease(full);
    const { run } = await begun(full, lease, ["one"]);
    await full.outbox.enqueue([reply("earlier")], { lease, runId: run.id });
  });
  const lease = await takeLease(store);
  const [interrupted] = await store.runs.interrupted();
  if (interrupted === undefined) throw new Error("no run");
  const write = { runId: interrupted.run.id, lease };
  await store.runs.adopt(write);
  const [later] = await store.outbox.enqueue([reply("later")], write);
  const [earlier] = (await store.outbox.claimDue({ lease, limit: 1 })).rows;
  expect(earlier?.payload).toEqual({ text: "earlier" });
  expect(later?.key).not.toBe(earlier?.key);
});

test.each([
  ["a run", cut("run", "outbox", "n = 1")],
  ["a reply", cut("outbox", "answers", "state = 'pending'")],
])("a damaged list of %s does not prevent pruning", async (_, damage) => {
  const store = await damagedBy(damage, async (full) => {
    const lease = await takeLease(full);
    for (const text of ["one", "two", "three"]) {
      await answered(full, lease, text);
      const { rows } = await full.outbox.claimDue({ lease, limit: 1 });
      for (const { id } of rows) await full.outbox.markSent(id, lease);
    }
    await full.outbox.enqueue([reply("waits")], { lease });
  });
  const { runs } = await store.maintenance.prune({ runsMs: 0 });
  expect(runs).toBe(2);
});

test("a run ends although one of its messages is missing", async () => {
  const store = await damagedBy("DELETE FROM inbox", async (full) => {
    await begun(full, await takeLease(full), ["lost"]);
  });
  const lease = await takeLease(store);
  const [interrupted] = await store.runs.interrupted();
  if (interrupted === undefined) throw new Error("no run");
  const write = { runId: interrupted.run.id, lease };
  await store.runs.adopt(write);
  await store.runs.finish({ ...write, outcome: "failed", inbox: [] });
  expect((await store.sessions.get(seed().key))?.activeRun).toBeUndefined();
});

test("a session continues although the run that held it is missing", async () => {
  const store = await damagedBy("DELETE FROM run", async (full) => {
    await begun(full, await takeLease(full), ["lost"]);
  });
  const { run } = await begun(store, await takeLease(store), ["next"]);
  expect(await store.sessions.get(seed().key)).toMatchObject({ activeRun: run.id });
});
