import fc from "fast-check";
import { expect, test } from "vitest";
import { FencedError, type Lease } from "../src/index.ts";
import { seed, takeLease, testStore } from "./support.ts";

test("a lease has one holder at a time, and each change raises its epoch", async () => {
  const { store, time } = await testStore();
  const one = await store.leases.acquire("gateway", "one", 1000);
  expect(one).toEqual({ name: "gateway", holder: "one", epoch: 1, expiresAt: time.now + 1000 });
  expect(await store.leases.acquire("gateway", "two", 1000)).toBeUndefined();
  time.now += 1000;
  expect(await store.leases.acquire("gateway", "two", 1000)).toMatchObject({ holder: "two", epoch: 2 });
  expect(await store.leases.acquire("gateway", "two", 1000)).toMatchObject({ epoch: 3 });
  expect(await store.leases.list()).toMatchObject([{ name: "gateway", holder: "two", epoch: 3 }]);
});

test("several leases are renewed in one call, which omits lost ones", async () => {
  const { store, time } = await testStore();
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
  const { store } = await testStore();
  const one = await takeLease(store, "a", "one");
  await store.leases.release(one);
  expect(await store.leases.list()).toEqual([]);
  await store.sessions.ensure(seed());
  await expect(store.sessions.append(seed().key, ["x"], one)).rejects.toBeInstanceOf(FencedError);
  expect(await store.leases.renew([one], 1000)).toEqual([]);
  const two = await takeLease(store, "a", "two");
  expect(two.epoch).toBe(3);
  await store.leases.release(one);
  expect(await store.leases.list()).toMatchObject([{ name: "a", holder: "two" }]);
});

test("property: only the newest token of a lease can write", async () => {
  const step = fc.record({
    holder: fc.constantFrom("one", "two", "three"),
    act: fc.constantFrom("acquire", "renew", "release", "write"),
    wait: fc.integer({ min: 0, max: 120 }),
    which: fc.nat(20),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { store, time } = await testStore();
      await store.sessions.ensure(seed());
      const given: Lease[] = [];
      let current: Lease | undefined;
      for (const { holder, act, wait, which } of steps) {
        time.now += wait;
        const token = given[which % Math.max(1, given.length)];
        if (act === "acquire") {
          const free = current === undefined || current.expiresAt <= time.now || current.holder === holder;
          const lease = await store.leases.acquire("a", holder, 100);
          expect(lease !== undefined).toBe(free);
          if (lease === undefined) continue;
          for (const earlier of given) expect(lease.epoch).toBeGreaterThan(earlier.epoch);
          given.push(lease);
          current = lease;
        } else if (token !== undefined) {
          const valid = token.epoch === current?.epoch;
          if (act === "renew") {
            const [lease] = await store.leases.renew([token], 100);
            expect(lease !== undefined).toBe(valid);
            current = lease ?? current;
          } else if (act === "release") {
            await store.leases.release(token);
            if (valid) current = undefined;
          } else {
            const wrote = await store.sessions.append(seed().key, ["x"], token).then(
              () => true,
              () => false,
            );
            expect(wrote).toBe(valid);
          }
        }
      }
    }),
    { numRuns: 100 },
  );
});
