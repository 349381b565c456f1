import assert from "node:assert/strict";
import { accountLease } from "../account-lease.ts";
import type { Check } from "./under-test.ts";
import { begin, LEASE_MS, sessionOf, take } from "./under-test.ts";

export const leaseChecks: Readonly<Record<string, Check>> = {
  "has one holder for a name, and as many names as are asked for": async ({ store }) => {
    await take(store, "one");
    assert.equal(await store.leases.acquire("gateway", "two", LEASE_MS), undefined);
    assert.ok(await store.leases.acquire("session:a", "two", LEASE_MS));
    assert.deepEqual(
      (await store.leases.list()).map(({ name, holder }) => [name, holder]),
      [
        ["gateway", "one"],
        ["session:a", "two"],
      ],
    );
  },

  "gives a name that has run out to the next, with a later epoch": async ({ store, advance }) => {
    const first = await take(store, "one");
    advance(LEASE_MS);
    const second = await take(store, "two");
    assert.ok(second.epoch > first.epoch);
    assert.deepEqual(await store.leases.renew([first], LEASE_MS), []);
    assert.equal((await store.leases.renew([second], LEASE_MS)).length, 1);
  },

  "prolongs what nobody took, though it has run out": async ({ store, now, advance }) => {
    const lease = await take(store);
    advance(2 * LEASE_MS);
    const [renewed] = await store.leases.renew([lease], LEASE_MS);
    assert.equal(renewed?.expiresAt, now() + LEASE_MS);
  },

  "refuses every write of an earlier epoch, and writes nothing of it": async ({ store }) => {
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
  },

  "lets several holders work side by side, each in sessions of its own": async (it) => {
    const { store } = it;
    const one = await take(store, "one", "node one");
    const two = await take(store, "two", "node two");
    const begun = await begin(store, one, "s", ["a"]);
    await begin(store, two, "t", ["b"]);
    // A session belongs to the run in it, whoever asks.
    const session = sessionOf("s");
    const other = await store.runs.begin({ session, lease: two, inboxIds: [], userMessages: [] });
    assert.equal(other.outcome, "busy");
    const foreign = { runId: begun.run.id, lease: two };
    await assert.rejects(store.runs.step({ ...foreign, messages: [{ said: "not mine" }] }), {
      code: "fenced",
    });
    assert.equal(await store.runs.adopt(foreign), undefined);
    assert.deepEqual(await store.runs.interrupted(), []);
    it.advance(LEASE_MS);
    await store.leases.renew([two], LEASE_MS);
    // The one that is late goes on with its own for as long as nobody takes it.
    assert.deepEqual(await store.runs.interrupted(one), []);
    assert.equal((await store.runs.interrupted(two)).length, 1);
    assert.equal((await store.runs.adopt(foreign))?.lease.name, "node two");
    await assert.rejects(store.runs.step({ runId: begun.run.id, lease: one, messages: [{ said: "late" }] }), {
      code: "fenced",
    });
  },

  "has the writes of a released name refused, and takes the name back at once": async ({ store }) => {
    const lease = await take(store, "one");
    await store.leases.release(lease);
    assert.deepEqual(await store.leases.renew([lease], LEASE_MS), []);
    assert.ok((await take(store, "two")).epoch > lease.epoch);
  },

  "leaves what an account sends to the holder of its lease, while there is one": async (it) => {
    const { store } = it;
    const one = await take(store, "one", "node one");
    const two = await take(store, "two", "node two");
    const account = { channel: "plain", account: "main" };
    await take(store, "one", accountLease(account));
    const row = (address: string, claim: boolean) => ({
      ...account,
      address,
      payload: { text: "hi" },
      claim,
    });
    const [waits] = await store.outbox.enqueue([row("a", true)], { lease: two });
    assert.equal(waits?.state, "pending");
    assert.deepEqual(await store.outbox.claimDue({ lease: two, limit: 9 }), { rows: [] });
    assert.deepEqual(idsOf(await store.outbox.claimDue({ lease: one, limit: 9 })), [waits?.id]);
    const [own] = await store.outbox.enqueue([row("b", true)], { lease: one });
    assert.equal(own?.state, "sending");
    // The one that ran it is gone: whoever is there goes on.
    it.advance(LEASE_MS);
    await store.leases.renew([two], LEASE_MS);
    assert.deepEqual(idsOf(await store.outbox.claimDue({ lease: two, limit: 9 })), [waits?.id, own?.id]);
  },

  "lists what is held, and not what was given back": async ({ store }) => {
    const kept = await take(store, "one", "a");
    await store.leases.release(await take(store, "one", "b"));
    assert.deepEqual(
      (await store.leases.list()).map(({ name, epoch }) => ({ name, epoch })),
      [{ name: kept.name, epoch: kept.epoch }],
    );
  },
};

function idsOf({ rows }: { readonly rows: readonly { readonly id: string }[] }): string[] {
  return rows.map(({ id }) => id);
}
