import { expect, it } from "vitest";
import { createInMemoryCache } from "./in-memory.ts";
import { createNameResolver } from "./name-resolver.ts";
import { systemClock } from "./system-clock.ts";

const logger = { debug() {}, info() {}, warn() {}, error() {} };

it.each([
  ["the name", "Anna"],
  ["undefined if the platform fails too", undefined],
])("returns %s if the cache fails", async (_, name) => {
  const broken = () => Promise.reject(new Error("the disk is full"));
  const resolve = createNameResolver({
    cache: { get: broken, set: broken },
    prefix: "bot",
    async request() {
      if (name === undefined) throw new Error("the platform is away");
      return name;
    },
    logger,
  });
  expect(await resolve("u1", new AbortController().signal)).toEqual(name && { name });
});

it("repeats the request for a caller that waited for one that another caller aborted", async () => {
  let requests = 0;
  const resolve = createNameResolver({
    cache: createInMemoryCache({ clock: systemClock }),
    prefix: "bot",
    async request(_userId, signal) {
      requests += 1;
      if (requests > 1) return "Anna";
      signal.throwIfAborted();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw signal.reason;
    },
    logger,
  });
  const first = new AbortController();
  const waiting = [first.signal, new AbortController().signal].map((signal) => resolve("u1", signal));
  first.abort();
  expect(await Promise.all(waiting)).toEqual([undefined, { name: "Anna" }]);
  expect(requests).toBe(2);
});
