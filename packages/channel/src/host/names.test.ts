import { expect, it } from "vitest";
import { createMemoryCache } from "./memory.ts";
import { createNames } from "./names.ts";
import { systemClock } from "./system-clock.ts";

const logger = { debug() {}, info() {}, warn() {}, error() {} };

it.each([
  ["Anna", "Anna"],
  ["nothing of whom it cannot ask for", undefined],
])("gives %s where the cache fails", async (_, name) => {
  const broken = () => Promise.reject(new Error("the disk is full"));
  const nameOf = createNames({
    cache: { get: broken, set: broken },
    prefix: "bot",
    async ask() {
      if (name === undefined) throw new Error("the platform is away");
      return name;
    },
    logger,
  });
  expect(await nameOf("u1", new AbortController().signal)).toEqual(name && { name });
});

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
    logger,
  });
  const first = new AbortController();
  const waiting = [first.signal, new AbortController().signal].map((signal) => nameOf("u1", signal));
  first.abort();
  expect(await Promise.all(waiting)).toEqual([undefined, { name: "Anna" }]);
  expect(asked).toBe(2);
});
