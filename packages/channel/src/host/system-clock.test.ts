import { expect, it } from "vitest";
import { ChannelError, retryUntilDone, systemClock } from "../index.ts";

/** A timer of two milliseconds fires after any timer that fires immediately. */
const next = () => systemClock.delay(2);

it.each([2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY])("does not end a delay of %d ms at once", async (ms) => {
  const over = new AbortController();
  let hasFired = false;
  const waiting = systemClock.delay(ms, over.signal).then(() => {
    hasFired = true;
  });
  await next();
  expect(hasFired).toBe(false);
  over.abort(new Error("over"));
  await expect(waiting).rejects.toThrow();
});

it("does not retry in a tight loop if retryAfterMs exceeds the range of a timer", async () => {
  const over = new AbortController();
  let attempts = 0;
  const done = retryUntilDone(
    async () => {
      attempts += 1;
      throw new ChannelError("rate_limited", "Echo: no more this year", { retryAfterMs: 2 ** 31 });
    },
    { clock: systemClock, signal: over.signal, failing: "not done" },
  );
  await next();
  expect(attempts).toBe(1);
  over.abort();
  await done;
});
