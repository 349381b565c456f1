import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFileTables, openStore } from "@signalbox/store";
import type { InboxAccept, OutboxInsert, Store } from "@signalbox/store/types";
import { expect, onTestFinished } from "vitest";
import { copyFile, openPostgresStore } from "../src/index.ts";
import { createDatabase, test } from "./support.ts";

const seed = (key: string) => ({
  key,
  agentId: "a",
  channel: "c",
  account: "m",
  peer: "p\0",
  kind: "direct",
});
const event = (id: string, sessionKey: string): InboxAccept => ({
  channel: "c",
  account: "m",
  eventId: `e${id}`,
  messageId: `m${id}`,
  kind: "message",
  conversationId: "x",
  senderId: "s",
  payload: { text: `${id}\0` },
  route: { agentId: "a", sessionKey },
});
const reply = (text: string, more: Partial<OutboxInsert> = {}): OutboxInsert => ({
  channel: "c",
  account: "m",
  address: "x",
  payload: { text },
  ...more,
});

async function takeLease(store: Store) {
  const lease = await store.leases.acquire("gateway", "gateway", 30_000);
  if (lease === undefined) throw new Error("the lease is held");
  return lease;
}

async function begin(store: Store, id: string, key: string) {
  const lease = await takeLease(store);
  const accepted = await store.inbox.accept(event(id, key));
  if (accepted.outcome !== "accepted") throw new Error(accepted.outcome);
  const input = { session: seed(key), lease, inboxIds: [accepted.id], userMessages: [{ user: id }] };
  const begun = await store.runs.begin(input);
  if (begun.outcome !== "started") throw new Error(begun.outcome);
  return { lease, runId: begun.run.id, inboxId: accepted.id };
}

/** Fills every table. */
async function fill(store: Store): Promise<void> {
  const { lease, runId, inboxId } = await begin(store, "1", "done");
  const end = { outcome: "completed", inbox: [{ id: inboxId, state: "replied" }] } as const;
  const outbox = [reply("one", { key: "k1" }), reply("two")];
  await store.runs.finish({
    ...end,
    runId,
    lease,
    messages: [{ answer: 1 }],
    outbox,
    usage: { costMicros: 5 },
    models: [{ model: "vendor/large", costMicros: 5 }],
  });
  await store.sessions.append("done", [{ n: 3 }, { n: 4 }], lease);
  await store.sessions.compact("done", { summary: { sum: 3 }, upTo: 3, lease });
  await store.sessions.ensure(seed("reset"));
  await store.sessions.append("reset", ["old"], lease);
  await store.sessions.reset("reset", lease);
  await store.outbox.claimDue({ lease, limit: 1 });
  const now = { createdAt: 1, usedAt: 1 };
  await store.access.tokens.add({ hash: "h", name: "n", role: "owner", createdAt: 1 });
  await store.access.sessions.open({ id: "i", tokenHash: "h", ...now });
  const approval = { id: "q", sessionKey: "done", hash: "h", state: "pending", createdAt: 1 } as const;
  await store.approvals.ask(approval, 5);
  await store.audit.append({ at: 1, kind: "tool", action: "allowed", actor: "a\0b", subject: "s" });
  await store.pairing.request({ channel: "c", account: "m", peerId: "1", code: "AAAA" });
  await store.pairing.approve({ code: "AAAA", approvedBy: "owner" });
  await store.pairing.request({ channel: "c", account: "m", peerId: "2", code: "BBBB" });
  await store.kv.set("n", "k\0", { text: "a\0" });
  await store.routes.put("c", [{ digest: "d", route: 1 }]);
  const entry = { id: "g", senderId: "s", body: { text: "hi" }, at: 1 };
  await store.groupHistory.push("x", entry);
  const told = [{ ...entry, conversation: "x" }];
  await store.contexts.put("done", [{ seq: 1, text: "t", told, recalled: "r", forOwner: false }]);
  await store.traces.append(inboxId, [{ stage: "receive", data: 1, at: 1 }]);
  await store.traces.read(inboxId);
  await store.budgets
    .ledger(lease)
    .reserve("b", { micros: 1, tokens: 2 }, [{ account: "a", period: "2026-11" }]);
  await store.budgets.ledger(lease).grant({ account: "a", period: "2026-11" });
  const active = await begin(store, "2", "active");
  const intents = [{ callId: "c1", name: "write", args: { path: "a" }, effects: "external" as const }];
  await store.runs.step({ runId: active.runId, lease: active.lease, messages: [{ step: 1 }], intents });
}

/** Returns everything that a store returns. */
async function readAll(store: Store) {
  const sessions = await store.sessions.list();
  const runs = await store.runs.list();
  const inbox = await store.inbox.list();
  const {
    databaseBytes: _,
    commits: __,
    calls: ___,
    syncs: ____,
    ...stats
  } = await store.maintenance.stats();
  return {
    sessions,
    runs,
    inbox,
    stats,
    histories: await Promise.all(sessions.map(({ key }) => store.sessions.history(key))),
    transcripts: await Promise.all(sessions.map(({ key }) => store.sessions.transcript(key))),
    contexts: await Promise.all(sessions.map(({ key }) => store.contexts.from(key, 0))),
    journals: await Promise.all(runs.map(({ id }) => store.runs.inspect(id))),
    traces: await Promise.all(inbox.map(({ id }) => store.traces.read(id))),
    outbox: await store.outbox.list({ states: ["pending", "sending", "sent"] }),
    keyed: await store.outbox.withKey("k1"),
    tokens: [await store.access.tokens.list(), await store.access.sessions.find("i")],
    pairing: [await store.pairing.pending(), await store.pairing.peers()],
    others: [await store.approvals.list(), await store.audit.list(), await store.kv.list("n")],
    more: [await store.routes.load("c"), await store.groupHistory.list("x"), await store.leases.list()],
    sums: [
      await store.usage.sum({ by: "day" }),
      await store.usage.sum({ by: "model" }),
      await store.budgets.inPeriods(["2026-11"]),
    ],
  };
}

test("a copy of a file has the same content, and continues its numbers", async () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-copy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "signalbox.db");
  const file = await openStore({ path });
  await fill(file);
  const before = await readAll(file);
  await file.close();

  const url = await createDatabase();
  const tables = openFileTables(path);
  const rows = await copyFile(url, tables);
  expect(Object.entries(rows).filter(([, count]) => count === 0)).toEqual([]);
  await expect(copyFile(url, tables)).rejects.toMatchObject({ code: "conflict" });
  tables.markMoved();
  tables.close();
  await expect(openStore({ path })).rejects.toThrow("was moved to PostgreSQL");
  await expect(openStore({ path, access: "read" })).rejects.toThrow("was moved to PostgreSQL");

  const store = await openPostgresStore({ url, hints: false });
  onTestFinished(() => store.close());
  expect(await readAll(store)).toEqual(before);
  expect(await store.inbox.accept(event("1", "done"))).toMatchObject({ outcome: "duplicate" });
  const next = await store.inbox.accept(event("3", "done"));
  // The duplicate used a number.
  expect(next).toMatchObject({ outcome: "accepted", seq: 4 });
});
