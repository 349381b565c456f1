import { expect, it } from "vitest";
import { ChannelError, systemClock, untilDone } from "../index.ts";

/** Timers fire in the order of their times: one of two milliseconds is behind whatever fires at once. */
const next = () => systemClock.delay(2);

it.each([2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY])("does not end a wait of %d ms at once", async (ms) => {
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

it("keeps work from a tight loop where a platform asks for a longer wait than a timer has", async () => {
  const over = new AbortController();
  let tries = 0;
  const done = untilDone(
    async () => {
      tries += 1;
      throw new ChannelError("rate_limited", "Echo: no more this year", { retryAfterMs: 2 ** 31 });
    },
    { clock: systemClock, signal: over.signal, failing: "not done" },
  );
  await next();
  expect(tries).toBe(1);
  over.abort();
  await done;
});
