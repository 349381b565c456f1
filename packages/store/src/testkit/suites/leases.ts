import { FencedError } from "../../errors.ts";
import type { Suite } from "./suite.ts";
import { seed, takeLease } from "./support.ts";

export const leasesSuite: Suite = ({ test, expect, open }) => {
  test("a lease has one holder at a time, and each change raises its epoch", async () => {
    const { store, time } = await open();
    const one = await store.leases.acquire("gateway", "one", 1000);
    if (one === undefined) throw new Error("the lease is held");
    expect(one).toMatchObject({ name: "gateway", holder: "one", expiresAt: time.now + 1000 });
    expect(await store.leases.acquire("gateway", "two", 1000)).toBeUndefined();
    time.now += 1000;
    const two = await takeLease(store, "gateway", "two");
    expect(two.epoch).toBeGreaterThan(one.epoch);
    const again = await takeLease(store, "gateway", "two");
    expect(again.epoch).toBeGreaterThan(two.epoch);
    expect(await store.leases.list()).toEqual([{ ...again, isExpired: false }]);
    time.now += 30_000;
    expect(await store.leases.list()).toEqual([{ ...again, isExpired: true }]);
  });

  test("several leases are renewed in one call, which omits lost ones", async () => {
    const { store, time } = await open();
    const kept = await takeLease(store, "a");
    const lost = await takeLease(store, "b");
    const late = await takeLease(store, "c");
    await takeLease(store, "b");
    time.now += 60_000;
    const renewed = await store.leases.renew([kept, lost, late], 5000);
    expect(renewed.map((lease) => [lease.name, lease.expiresAt])).toEqual([
      ["a", time.now + 5000],
      ["c", time.now + 5000],
    ]);
  });

  test("a released lease is free at once, and late writes of its holder are rejected", async () => {
    const { store } = await open();
    const one = await takeLease(store, "a", "one");
    await store.leases.release(one);
    expect(await store.leases.list()).toEqual([]);
    await store.sessions.ensure(seed());
    await expect(store.sessions.append(seed().key, ["x"], one)).rejects.toBeInstanceOf(FencedError);
    expect(await store.leases.renew([one], 1000)).toEqual([]);
    const two = await takeLease(store, "a", "two");
    expect(two.epoch).toBeGreaterThan(one.epoch + 1);
    await store.leases.release(one);
    expect(await store.leases.list()).toMatchObject([{ name: "a", holder: "two" }]);
  });
};
