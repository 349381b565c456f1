import assert from "node:assert/strict";
import type { Check } from "./under-test.ts";
import { begin, sessionOf, take } from "./under-test.ts";

const LEASE_MS = 30_000;

export function leaseSuite(check: Check): void {
  check("has one holder for a name, and as many names as are asked for", async ({ store }) => {
    await take(store, "one");
    assert.equal(await store.leases.acquire("gateway", "two", LEASE_MS), undefined);
    assert.ok(await store.leases.acquire("session:a", "two", LEASE_MS));
    assert.equal((await store.leases.get("gateway"))?.holder, "one");
  });

  check("gives a name that has run out to the next, with a later epoch", async ({ store, advance }) => {
    const first = await take(store, "one");
    advance(LEASE_MS);
    const second = await take(store, "two");
    assert.ok(second.epoch > first.epoch);
    assert.deepEqual(await store.leases.renew([first], LEASE_MS), []);
    assert.equal((await store.leases.renew([second], LEASE_MS)).length, 1);
  });

  check("prolongs what nobody took, though it has run out", async ({ store, now, advance }) => {
    const lease = await take(store);
    advance(2 * LEASE_MS);
    const [renewed] = await store.leases.renew([lease], LEASE_MS);
    assert.equal(renewed?.expiresAt, now() + LEASE_MS);
  });

  check("refuses every write of an earlier epoch, and writes nothing of it", async ({ store }) => {
    const stale = await take(store);
    const { run, inboxIds } = await begin(store, stale, "s", ["a"]);
    await take(store);
    const fenced = { code: "fenced" };
    const write = { runId: run.id, lease: stale };
    await assert.rejects(store.runs.step({ ...write, messages: [{ said: "late" }] }), fenced);
    await assert.rejects(
      store.runs.finish({
        ...write,
        outcome: "completed",
        inbox: inboxIds.map((id) => ({ id, state: "replied" })),
      }),
      fenced,
    );
    await assert.rejects(store.sessions.append("s", [{ said: "late" }], stale), fenced);
    const session = sessionOf("t");
    await assert.rejects(store.runs.begin({ session, lease: stale, inboxIds: [], userMessages: [] }), fenced);
    assert.equal((await store.sessions.transcript("s")).length, 1);
    assert.equal(await store.sessions.get("t"), undefined);
  });

  check("has the writes of a released name refused, and takes the name back at once", async ({ store }) => {
    const lease = await take(store, "one");
    await store.leases.release(lease);
    assert.deepEqual(await store.leases.renew([lease], LEASE_MS), []);
    assert.ok((await take(store, "two")).epoch > lease.epoch);
  });
}
