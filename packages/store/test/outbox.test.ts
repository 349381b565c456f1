import fc from "fast-check";
import { expect, test } from "vitest";
import type { OutboxRow } from "../src/index.ts";
import { reply, takeLease, testStore } from "./support.ts";

function only<V>(values: readonly V[]): V {
  const [value] = values;
  if (value === undefined || values.length !== 1) throw new Error(`one value, not ${values.length}`);
  return value;
}

test.each(["expire", "dead"] as const)(
  "a row's end and its notice are committed together: %s",
  async (how) => {
    let writesLeft = Number.POSITIVE_INFINITY;
    const { store, time } = await testStore({
      faults(point) {
        if (point === "write" && writesLeft-- <= 0) throw new Error("planned");
      },
    });
    const lease = await takeLease(store);
    const claim = how === "dead";
    const row = only(
      await store.outbox.enqueue([{ ...reply("1"), claim, expiresAt: time.now + 10 }], { lease }),
    );
    time.now += 10;
    const word = reply("about it");
    const end = () =>
      how === "dead"
        ? store.outbox.dead(row.id, lease, "refused", word)
        : store.outbox.expire([row.id], lease, word);
    // However many of its writes are made, either all of it is there or nothing.
    for (let made = 0; made < 3; made += 1) {
      writesLeft = made;
      await expect(end()).rejects.toThrow("planned");
      expect((await store.outbox.get(row.id))?.state).toBe(row.state);
    }
    writesLeft = Number.POSITIVE_INFINITY;
    await end();
    expect((await store.outbox.get(row.id))?.state).toBe(how === "dead" ? "dead" : "expired");
    const { rows } = await store.outbox.claimDue({ lease, limit: 9 });
    expect(rows.map(({ payload }) => payload)).toEqual([word.payload]);
  },
);

test("property: each address gets its rows in order, and never two at a time", async () => {
  const step = fc.record({
    act: fc.constantFrom("add", "claim", "sent", "retry", "crash"),
    address: fc.constantFrom("a", "b"),
    wait: fc.integer({ min: 0, max: 30 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { store, time } = await testStore();
      let lease = await takeLease(store);
      const added = new Map<string, number[]>();
      const sent = new Map<string, number[]>();
      const sending = new Map<string, OutboxRow>();
      let count = 0;
      for (const { act, address, wait } of steps) {
        time.now += wait;
        const row = sending.get(address);
        if (act === "add") {
          count += 1;
          await store.outbox
            .enqueue([{ ...reply("", address), payload: count, claim: count % 3 === 0 }], { lease })
            .then((rows) => {
              for (const mine of rows) if (mine.state === "sending") sending.set(address, mine);
            });
          added.set(address, [...(added.get(address) ?? []), count]);
        } else if (act === "claim") {
          for (const claimed of (await store.outbox.claimDue({ lease, limit: 2 })).rows) {
            expect(sending.has(claimed.address)).toBe(false);
            sending.set(claimed.address, claimed);
          }
        } else if (act === "crash") {
          lease = await takeLease(store);
          sending.clear();
        } else if (row !== undefined) {
          sending.delete(address);
          if (act === "retry") await store.outbox.retryAt(row.id, lease, time.now + 10);
          else {
            await store.outbox.markSent(row.id, lease);
            sent.set(address, [...(sent.get(address) ?? []), Number(row.payload)]);
          }
        }
      }
      for (const [address, order] of sent) {
        expect(order).toEqual((added.get(address) ?? []).slice(0, order.length));
      }
    }),
    { numRuns: 150 },
  );
});
