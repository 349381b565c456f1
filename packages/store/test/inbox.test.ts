import fc from "fast-check";
import { expect, test } from "vitest";
import { openStore } from "../src/index.ts";
import { event, queuedIn, temporaryFolder } from "./support.ts";

test("property: events through two stores, with failures, are stored once", async () => {
  const step = fc.record({
    event: fc.integer({ min: 0, max: 12 }),
    // Several events can carry one message.
    message: fc.integer({ min: 0, max: 6 }),
    second: fc.boolean(),
    fails: fc.boolean(),
    prune: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    alone: fc.boolean(),
  });
  const folder = temporaryFolder();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      runs += 1;
      const path = `${folder}/${runs}.db`;
      let failing = false;
      const faults = (point: string) => {
        if (failing && point === "commit") throw new Error("planned");
      };
      const one = await openStore({ path, faults });
      const two = await openStore({ path });
      const answered: { eventId: string; messageId: string; outcome: string }[] = [];
      const together: Promise<unknown>[] = [];
      for (const { event: e, message: m, second, fails, prune, alone } of steps) {
        const names = { eventId: `e${e}`, messageId: `m${m}` };
        const asked = { ...event("x", "s"), ...names };
        failing = fails;
        const answer = (second ? two : one).inbox.accept(asked).then(
          ({ outcome }) => void answered.push({ ...names, outcome }),
          (error: unknown) => expect(String(error)).toContain("planned"),
        );
        together.push(answer);
        if (alone || fails) await Promise.all(together.splice(0));
        failing = false;
        if (prune) await two.maintenance.prune();
      }
      await Promise.all(together);
      const rows = await queuedIn(two, "s");
      expect(new Set(rows.map((row) => row.eventId)).size).toBe(rows.length);
      expect(new Set(rows.map((row) => row.messageId)).size).toBe(rows.length);
      expect(answered.filter(({ outcome }) => outcome === "accepted").length).toBe(rows.length);
      for (const { eventId, messageId } of answered) {
        expect(rows.some((row) => row.eventId === eventId || row.messageId === messageId)).toBe(true);
      }
      await one.close();
      await two.close();
    }),
    { numRuns: 60 },
  );
});
