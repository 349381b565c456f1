import type { NodeReport } from "../../types/nodes.ts";
import type { Suite } from "./suite.ts";
import { accepted, reply, takeLease } from "./support.ts";

const DAY_MS = 86_400_000;

const report = (id: string, more: Partial<NodeReport> = {}): NodeReport => ({
  id,
  version: "1.0.0",
  labels: [],
  configuration: "digest",
  startedAt: 1,
  clockSkewMs: -2,
  latencyMs: 3,
  ...more,
});

export const nodesSuite: Suite = ({ test, expect, open }) => {
  test("a node's last report is kept, with the time of the store", async () => {
    const { store, time } = await open();
    expect(await store.nodes.report(report("b", { name: "old", labels: ["gpu", "东"] }))).toBe(time.now);
    await store.nodes.report(report("a"));
    time.now += 5_000;
    await store.nodes.report(report("b", { version: "1.1.0", labels: ["gpu"] }));
    const [a, b, ...others] = await store.nodes.list();
    expect(others).toEqual([]);
    expect(a).toMatchObject({ ...report("a"), seenAt: time.now - 5_000, takeovers: 0, fencedWrites: 0 });
    expect(b).toMatchObject({ id: "b", version: "1.1.0", labels: ["gpu"], seenAt: time.now, latencyMs: 3 });
    expect(b?.name).toBeUndefined();
    expect(b?.format).toBeGreaterThan(0);
  });

  test("events of a node are counted across its reports", async () => {
    const { store } = await open();
    await store.nodes.count("a", "takeovers");
    expect(await store.nodes.list()).toEqual([]);
    await store.nodes.report(report("a"));
    await store.nodes.report(report("b"));
    await store.nodes.count("a", "takeovers");
    await store.nodes.count("a", "takeovers");
    await store.nodes.report(report("a"));
    await store.nodes.count("a", "fencedWrites");
    expect(await store.nodes.list()).toMatchObject([
      { id: "a", takeovers: 2, fencedWrites: 1 },
      { id: "b", takeovers: 0, fencedWrites: 0 },
    ]);
  });

  test("a node that was not seen for 30 days is pruned", async () => {
    const { store, time } = await open();
    await store.nodes.report(report("old"));
    time.now += 30 * DAY_MS;
    await store.nodes.report(report("new"));
    await store.maintenance.prune();
    expect((await store.nodes.list()).map(({ id }) => id)).toEqual(["old", "new"].toSorted());
    time.now += 1;
    await store.maintenance.prune();
    expect((await store.nodes.list()).map(({ id }) => id)).toEqual(["new"]);
  });

  test("a lease names the holder from which it was taken, and the time", async () => {
    const { store, time } = await open();
    const first = await store.leases.acquire("seat a", "one", 1_000);
    expect(first).toMatchObject({ acquiredAt: time.now });
    expect(first?.takenFrom).toBeUndefined();
    time.now += 1_000;
    const again = await store.leases.acquire("seat a", "one", 1_000);
    expect(again?.takenFrom).toBeUndefined();
    time.now += 1_000;
    const taken = await store.leases.acquire("seat a", "two", 1_000);
    expect(taken).toMatchObject({ takenFrom: "one", acquiredAt: time.now });
    if (taken !== undefined) await store.leases.release(taken);
    const freed = await store.leases.acquire("seat a", "one", 1_000);
    expect(freed?.takenFrom).toBeUndefined();
  });

  test("the statistics have the age of the oldest work and the size of the database", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    const { oldestInboxAt, oldestOutboxAt, databaseBytes } = await store.maintenance.stats();
    expect([oldestInboxAt, oldestOutboxAt]).toEqual([undefined, undefined]);
    expect(databaseBytes).toBeGreaterThan(10_000);
    const at = time.now;
    await accepted(store, "1");
    await store.outbox.enqueue([reply("1")], { lease });
    time.now += 60_000;
    await accepted(store, "2");
    await store.outbox.enqueue([reply("2", "oc_2")], { lease });
    expect(await store.maintenance.stats()).toMatchObject({ oldestInboxAt: at, oldestOutboxAt: at });
  });
};
