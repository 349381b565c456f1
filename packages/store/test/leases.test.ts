import fc from "fast-check";
import { expect, test } from "vitest";
import type { Lease } from "../src/index.ts";
import { seed, testStore } from "./support.ts";

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
