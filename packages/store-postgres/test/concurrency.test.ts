import { verifyChain } from "@signalbox/store/audit";
import type { Store } from "@signalbox/store/types";
import { expect, onTestFinished } from "vitest";
import { openPostgresStore } from "../src/index.ts";
import { startProxy } from "./proxy.ts";
import { createDatabase, test } from "./support.ts";

/** Opens several stores on one database, as several gateways do. */
async function openStores(count: number): Promise<readonly Store[]> {
  const url = await createDatabase();
  const stores = await Promise.all(
    Array.from({ length: count }, () => openPostgresStore({ url, connections: 4 })),
  );
  for (const store of stores) onTestFinished(() => store.close());
  return stores;
}

const event = (id: string) => ({
  channel: "c",
  account: "m",
  eventId: id,
  messageId: id,
  kind: "message",
  conversationId: "x",
  senderId: "s",
  payload: { id },
  route: { agentId: "a", sessionKey: "s" },
});
const seed = { key: "s", agentId: "a", channel: "c", account: "m", peer: "p", kind: "direct" };

async function acquireEach(stores: readonly Store[]) {
  return Promise.all(
    stores.map(async (store, index) => {
      const lease = await store.leases.acquire(`node ${index}`, `node ${index}`, 30_000);
      if (lease === undefined) throw new Error("the lease is held");
      return { store, lease };
    }),
  );
}

test("stores that open a new database at the same time migrate it once", async () => {
  const stores = await openStores(3);
  for (const store of stores) expect(await store.kv.list("n")).toEqual([]);
});

test("one event through several stores is accepted once", async () => {
  const stores = await openStores(3);
  for (const id of ["1", "2", "3", "4"]) {
    const results = await Promise.all(stores.map((store) => store.inbox.accept(event(id))));
    expect(results.map(({ outcome }) => outcome).sort()).toEqual(["accepted", "duplicate", "duplicate"]);
  }
});

test("a message gets no lease while earlier ones of its session wait, and all are claimed in order", async () => {
  const [one, two] = await acquireEach(await openStores(2));
  if (one === undefined || two === undefined) throw new Error("no stores");
  const accept = (id: string, sessionKey = "s") =>
    two.store.inbox.accept({ ...event(id), route: { agentId: "a", sessionKey }, lease: two.lease });
  await one.store.inbox.accept(event("1"));
  expect(await accept("2")).toMatchObject({ outcome: "accepted", isUnclaimed: true });
  expect(await accept("3", "t")).not.toHaveProperty("isUnclaimed");
  const claimed = await two.store.inbox.claimDue(two.lease);
  expect(claimed.map(({ messageId }) => messageId)).toEqual(["1", "2"]);
  expect(await accept("4")).not.toHaveProperty("isUnclaimed");
});

test("a message is claimed only together with the earlier ones of its session", async () => {
  const [one, two] = await acquireEach(await openStores(2));
  if (one === undefined || two === undefined) throw new Error("no stores");
  const claim = async () => (await two.store.inbox.claimDue(two.lease)).map(({ messageId }) => messageId);
  const first = await one.store.inbox.accept({ ...event("1"), lease: one.lease });
  await one.store.inbox.accept(event("2"));
  expect(await claim()).toEqual([]);
  await one.store.inbox.release(first.outcome === "accepted" ? [first.id] : [], one.lease);
  expect(await claim()).toEqual(["1", "2"]);
});

test("one of several stores begins a run in a session", async () => {
  const nodes = await acquireEach(await openStores(3));
  for (const key of ["a", "b", "c", "d"]) {
    await nodes[0]?.store.sessions.ensure({ ...seed, key });
    const begun = await Promise.all(
      nodes.map(({ store, lease }) =>
        store.runs.begin({ session: { ...seed, key }, lease, inboxIds: [], userMessages: [] }),
      ),
    );
    expect(begun.map(({ outcome }) => outcome).sort()).toEqual(["busy", "busy", "started"]);
  }
});

test("concurrent claims share the due rows, and no row is claimed twice", async () => {
  const nodes = await acquireEach(await openStores(3));
  const rows = Array.from({ length: 60 }, (_, i) => ({
    channel: "c",
    account: "m",
    address: `a${i}`,
    payload: i,
  }));
  await nodes[0]?.store.outbox.enqueue(rows, { lease: nodes[0].lease });
  const claims = await Promise.all(
    nodes.flatMap(({ store, lease }) =>
      [1, 2, 3, 4, 5].map(() => store.outbox.claimDue({ lease, limit: 5 })),
    ),
  );
  const claimed = claims.flatMap((claim) => claim.rows.map(({ id }) => id));
  expect(new Set(claimed).size).toBe(claimed.length);
  const rest = await nodes[0]?.store.outbox.claimDue({ lease: nodes[0].lease, limit: 100 });
  expect(claimed.length + (rest?.rows.length ?? 0)).toBe(60);
});

test("two rows that are inserted as claimed are not sent to one address at the same time", async () => {
  const nodes = await acquireEach(await openStores(3));
  for (const address of ["a", "b", "c"]) {
    const row = { channel: "c", account: "m", address, payload: 1, claim: true };
    const added = await Promise.all(
      nodes.map(async ({ store, lease }) => (await store.outbox.enqueue([row], { lease }))[0]?.state),
    );
    expect(added.sort()).toEqual(["pending", "pending", "sending"]);
  }
});

test("several stores together do not exceed a budget", async () => {
  const nodes = await acquireEach(await openStores(3));
  const claim = { account: "a", period: "2026-11", limit: { unit: "micros", amount: 10 } } as const;
  const results = await Promise.all(
    nodes.flatMap(({ store, lease }, node) =>
      [1, 2, 3, 4].map((call) =>
        store.budgets.ledger(lease).reserve(`${node} ${call}`, { micros: 5, tokens: 1 }, [claim]),
      ),
    ),
  );
  expect(results.filter(({ full }) => full.length === 0)).toHaveLength(2);
});

test("the audit chain stays intact with entries from several stores", async () => {
  const stores = await openStores(3);
  const entry = { at: 1, kind: "tool", action: "allowed", actor: "policy", subject: "exec" } as const;
  await Promise.all(stores.flatMap(({ audit }) => [1, 2, 3].map(() => audit.append(entry))));
  const [store] = stores;
  if (store === undefined) throw new Error("no store");
  expect(await verifyChain(store.audit)).toMatchObject({ intact: true, head: { count: 9 } });
});

test("a row with a key is inserted once, although several stores insert it into different addresses", async () => {
  const nodes = await acquireEach(await openStores(3));
  for (const key of ["k1", "k2", "k3", "k4"]) {
    const rows = await Promise.all(
      nodes.map(async ({ store, lease }, index) => {
        const row = { channel: "c", account: "m", address: `a${index}`, payload: 1, key };
        return (await store.outbox.enqueue([row], { lease }))[0]?.id;
      }),
    );
    expect(new Set(rows).size).toBe(1);
  }
});

test("a write takes two round trips", async () => {
  const url = await createDatabase();
  const proxy = await startProxy(url);
  onTestFinished(() => proxy.close());
  const store = await openPostgresStore({ url: proxy.through(url), connections: 1 });
  onTestFinished(() => store.close());
  const lease = await store.leases.acquire("n", "n", 30_000);
  if (lease === undefined) throw new Error("the lease is held");
  const count = async <T>(call: () => Promise<T>): Promise<T> => {
    proxy.roundTrips = 0;
    const result = await call();
    trips.push(proxy.roundTrips);
    return result;
  };
  const trips: number[] = [];
  const accepted = await count(() => store.inbox.accept(event("1")));
  if (accepted.outcome !== "accepted") throw new Error(accepted.outcome);
  const begin = { session: seed, lease, inboxIds: [accepted.id], userMessages: ["hello"] };
  const begun = await count(() => store.runs.begin(begin));
  if (begun.outcome !== "started") throw new Error(begun.outcome);
  const end = {
    runId: begun.run.id,
    lease,
    outcome: "completed" as const,
    inbox: [{ id: accepted.id, state: "replied" as const }],
    messages: ["hi"],
    outbox: [{ channel: "c", account: "m", address: "a", payload: "hi", claim: true }],
  };
  const [row] = await count(() => store.runs.finish(end));
  if (row === undefined) throw new Error("no reply");
  await count(() => store.outbox.markSent(row.id, lease));
  await count(() => store.outbox.claimDue({ lease, limit: 9 }));
  expect(trips).toEqual([2, 2, 2, 2, 2]);
});
