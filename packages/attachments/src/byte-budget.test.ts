import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { createByteBudget } from "./byte-budget.ts";

const never = new AbortController().signal;

/** Returns true if `work` has already resolved. */
async function through(work: Promise<void>): Promise<boolean> {
  return Promise.race([work.then(() => true), setImmediate().then(() => false)]);
}

it("makes later files wait until earlier ones free bytes, and never the first one", async () => {
  const budget = createByteBudget(10);
  const [a, b, c] = [budget.enter(), budget.enter(), budget.enter()];
  await b.take(6, never);
  await a.take(4, never);
  const more = c.take(1, never);
  expect(await through(more)).toBe(false);
  // It is the first file. If it had to wait, no bytes would ever be freed.
  expect(await through(a.take(5, never))).toBe(true);
  a.give(5);
  expect(await through(more)).toBe(false);
  a.done();
  expect(await through(more)).toBe(false);
  // Now this is the first file.
  expect(await through(b.take(1, never))).toBe(true);
  a.leave();
  expect(await through(more)).toBe(true);
  b.leave();
  c.leave();
  expect(await through(budget.enter().take(10, never))).toBe(true);
});

it("reserves nothing for a file that stopped waiting", async () => {
  const budget = createByteBudget(10);
  const [a, b, c] = [budget.enter(), budget.enter(), budget.enter()];
  await a.take(10, never);
  const stop = new AbortController();
  const gone = b.take(5, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(gone).rejects.toThrow("stopped");
  a.leave();
  b.leave();
  await c.take(10, never);
  const last = budget.enter();
  expect(await through(last.take(1, never))).toBe(false);
  c.leave();
});
