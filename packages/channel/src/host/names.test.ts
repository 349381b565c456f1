import { expect, it } from "vitest";
import { createMemoryCache } from "./memory.ts";
import { createNames } from "./names.ts";
import { systemClock } from "./system-clock.ts";

it("asks anew for whoever waited for an answer that another gave up", async () => {
  let asked = 0;
  const nameOf = createNames({
    cache: createMemoryCache({ clock: systemClock }),
    prefix: "bot",
    async ask(_userId, signal) {
      asked += 1;
      if (asked > 1) return "Anna";
      signal.throwIfAborted();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw signal.reason;
    },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const first = new AbortController();
  const waiting = [first.signal, new AbortController().signal].map((signal) => nameOf("u1", signal));
  first.abort();
  expect(await Promise.all(waiting)).toEqual([undefined, { name: "Anna" }]);
  expect(asked).toBe(2);
});
