import { accountLease } from "../account-lease.ts";
import {
  ACCOUNT,
  acquire,
  begin,
  type Checks,
  enqueue,
  expectDefined,
  expectEqual,
  expectRejection,
  getIds,
  LEASE_MS,
  toSeed,
} from "./under-test.ts";

export const leaseChecks: Checks = {
  "has one holder for each name": async ({ store: { leases } }) => {
    expectDefined(await leases.acquire("gateway", "one", LEASE_MS), "A free lease was not granted.");
    const second = await leases.acquire("gateway", "two", LEASE_MS);
    expectEqual(second, undefined, "A held lease was granted to another holder.");
    expectDefined(await leases.acquire("session:a", "two", LEASE_MS), "Another name was not granted.");
    const held = (await leases.list()).map(({ name, holder }) => [name, holder]);
    const expected = [
      ["gateway", "one"],
      ["session:a", "two"],
    ];
    expectEqual(held, expected, "The list of leases is wrong.");
  },

  "grants an expired lease to the next holder under a later epoch": async ({ store, advance }) => {
    const first = await acquire(store, "one");
    advance(LEASE_MS);
    const second = await acquire(store, "two");
    expectEqual(second.epoch > first.epoch, true, "The epoch did not rise with the new holder.");
    const [listed] = await store.leases.list();
    expectEqual(listed?.isExpired, false, "A held lease is listed as expired.");
    const lost = await store.leases.renew([first], LEASE_MS);
    expectEqual(lost, [], "A lost lease was renewed.");
    expectEqual((await store.leases.renew([second], LEASE_MS)).length, 1, "A held lease was not renewed.");
  },

  "renews an expired lease that no one has taken": async ({ store, now, advance }) => {
    const lease = await acquire(store);
    advance(LEASE_MS);
    const [listed] = await store.leases.list();
    expectEqual(listed?.isExpired, true, "An expired lease is listed as held.");
    advance(LEASE_MS);
    const [renewed] = await store.leases.renew([lease], LEASE_MS);
    expectEqual(renewed?.expiresAt, now() + LEASE_MS, "An expired lease could not be renewed.");
  },

  "rejects every write under an earlier epoch and writes nothing": async ({ store }) => {
    const stale = await acquire(store);
    const { run, inboxIds } = await begin(store, stale, "s", ["a"]);
    await acquire(store);
    const write = { runId: run.id, lease: stale };
    const inbox = inboxIds.map((id) => ({ id, state: "replied" as const }));
    const messages = [{ assistant: "late" }];
    await expectRejection(store.runs.step({ ...write, messages }), "fenced", "A late step was written.");
    const finish = store.runs.finish({ ...write, outcome: "completed", inbox });
    await expectRejection(finish, "fenced", "A late end of a run was written.");
    const append = store.sessions.append("s", messages, stale);
    await expectRejection(append, "fenced", "A late message was appended.");
    const started = store.runs.begin({
      session: toSeed("t"),
      lease: stale,
      inboxIds: [],
      userMessages: [],
    });
    await expectRejection(started, "fenced", "A run began under a lost lease.");
    const transcript = await store.sessions.transcript("s");
    expectEqual(transcript.length, 1, "A rejected write changed the conversation.");
    expectEqual(await store.sessions.get("t"), undefined, "A rejected write created a session.");
  },

  "lets several holders work side by side in separate sessions": async ({ store, advance }) => {
    const one = await acquire(store, "one", "node one");
    const two = await acquire(store, "two", "node two");
    const begun = await begin(store, one, "s", ["a"]);
    await begin(store, two, "t", ["b"]);
    const second = await store.runs.begin({
      session: toSeed("s"),
      lease: two,
      inboxIds: [],
      userMessages: [],
    });
    expectEqual(second.outcome, "busy", "Two runs hold one session.");
    const foreign = { runId: begun.run.id, lease: two };
    const messages = [{ assistant: "not mine" }];
    const step = store.runs.step({ ...foreign, messages });
    await expectRejection(step, "fenced", "A holder wrote into another holder's run.");
    const adopted = await store.runs.adopt(foreign);
    expectEqual(adopted, undefined, "A run was adopted although its lease is valid.");
    expectEqual(await store.runs.interrupted(), [], "A run with a valid lease counts as interrupted.");
    advance(LEASE_MS);
    await store.leases.renew([two], LEASE_MS);
    expectEqual(await store.runs.interrupted(one), [], "A holder's own run counts as interrupted for it.");
    expectEqual((await store.runs.interrupted(two)).length, 1, "A run with an expired lease was not found.");
    const taken = await store.runs.adopt(foreign);
    expectEqual(taken?.lease.name, "node two", "A run with an expired lease could not be adopted.");
    const late = store.runs.step({ runId: begun.run.id, lease: one, messages });
    await expectRejection(late, "fenced", "The former holder wrote into an adopted run.");
  },

  "rejects writes under a released lease and grants it at once": async ({ store }) => {
    const lease = await acquire(store, "one");
    await store.leases.release(lease);
    expectEqual(await store.leases.renew([lease], LEASE_MS), [], "A released lease was renewed.");
    const next = await acquire(store, "two");
    expectEqual(next.epoch > lease.epoch, true, "The epoch did not rise after a release.");
  },

  "lets every holder send the replies of an account, whoever listens": async ({ store }) => {
    const one = await acquire(store, "one", "node one");
    const two = await acquire(store, "two", "node two");
    await acquire(store, "one", accountLease(ACCOUNT));
    const own = await enqueue(store, two, "a", { claim: true });
    expectEqual(own.state, "sending", "A holder could not claim its own reply.");
    const waiting = await enqueue(store, two, "b", { claim: false });
    const claim = async (lease: typeof one) =>
      getIds((await store.outbox.claimDue({ lease, limit: 9 })).rows);
    expectEqual(await claim(one), [waiting.id], "A waiting reply was not claimed, or a claimed one was.");
    expectEqual(await claim(two), [], "A reply was claimed twice.");
  },

  "lists held leases, not released ones": async ({ store }) => {
    const kept = await acquire(store, "one", "a");
    await store.leases.release(await acquire(store, "one", "b"));
    const held = (await store.leases.list()).map(({ name, epoch }) => ({ name, epoch }));
    expectEqual(held, [{ name: kept.name, epoch: kept.epoch }], "The list of leases is wrong.");
  },
};
