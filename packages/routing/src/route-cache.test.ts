import type { JsonValue, RouteCacheStore } from "@signalbox/store/types";
import { describe, expect, it } from "vitest";
import { openRouteCache } from "../test/open-route-cache.ts";
import { createRouter, type RouteInput, type RoutingConfig } from "./index.ts";

interface CachedRoute {
  readonly digest: string;
  readonly route: JsonValue;
}

const config: RoutingConfig = {
  agents: ["main", "a", "b"],
  defaultAgent: "main",
  bindings: [
    { agent: "a", match: { channel: "slack", teamId: "W1" } },
    { agent: "b", match: { channel: "slack", account: "other" } },
  ],
};
const message: RouteInput = {
  channel: "slack",
  account: "main",
  peer: { kind: "direct", id: "U1" },
  teamId: "W1",
};

/** A clock whose timers run when the test calls `tick`. */
function handClock() {
  const timers = new Set<() => void>();
  return {
    timers,
    after(_ms: number, run: () => void) {
      timers.add(run);
      return () => timers.delete(run);
    },
    tick() {
      for (const run of [...timers]) {
        timers.delete(run);
        run();
      }
    },
  };
}

describe("the durable cache", () => {
  it("is written in the background, with many routes at once", async () => {
    const puts: (readonly CachedRoute[])[] = [];
    const store: RouteCacheStore = {
      load: async () => [],
      put: async (_, rows) => void puts.push(rows),
      prune: async () => 0,
    };
    const clock = handClock();
    const router = createRouter(config, { cache: store, clock });
    for (let i = 0; i < 10; i++) {
      router.resolve({ ...message, peer: { kind: "direct", id: `U${i}` } });
      router.resolve({ ...message, peer: { kind: "direct", id: `U${i}` } });
    }
    expect(puts).toEqual([]);
    clock.tick();
    await router.flush();
    expect(puts.map((rows) => rows.length)).toEqual([10]);
    expect(puts[0]?.[0]?.route).toEqual({
      agentId: "a",
      sessionKey: "agent:a:slack:direct:U0",
      matchedBy: "binding.team",
      bindingIndex: 0,
    });
    expect(clock.timers.size).toBe(0);
  });

  it("is written at once with 256 pending rows, and drops rows over 2,000", async () => {
    let rows = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const store: RouteCacheStore = {
      load: async () => [],
      put: async (_, batch) => {
        rows += batch.length;
        await released;
      },
      prune: async () => 0,
    };
    const router = createRouter(config, { cache: store, clock: handClock() });
    const ask = (i: number) => router.resolve({ ...message, peer: { kind: "direct", id: `U${i}` } });
    for (let i = 0; i < 256; i++) ask(i);
    await Promise.resolve();
    expect(rows).toBe(256);
    for (let i = 256; i < 5_000; i++) ask(i);
    release();
    await router.flush();
    expect(rows).toBe(256 + 2_000);
  });

  it("warms a restarted router", async () => {
    const cache = await openRouteCache();
    const first = createRouter(config, { cache });
    const route = first.resolve(message);
    await first.flush();
    const second = createRouter(config, { cache });
    expect(await second.warm()).toBe(1);
    expect(second.explain(message).cache.source).toBe("store");
    expect(second.resolve(message)).toEqual(route);
  });

  it("removes the routes of other configurations", async () => {
    const cache = await openRouteCache();
    const first = createRouter(config, { cache });
    first.resolve(message);
    await first.flush();
    const second = createRouter({ ...config, dmScope: "main" }, { cache });
    expect(await second.warm()).toBe(0);
    expect(await cache.load(first.digest, 10)).toEqual([]);
  });

  it.each<[string, JsonValue]>([
    ["nothing", null],
    ["text", "agent:a:slack:direct:U1"],
    [
      "an agent that does not exist",
      { agentId: "gone", sessionKey: "agent:gone:slack:direct:U1", matchedBy: "default" },
    ],
    [
      "another person's session",
      { agentId: "a", sessionKey: "agent:a:slack:direct:U2", matchedBy: "binding.team", bindingIndex: 0 },
    ],
    [
      "a binding that does not match",
      { agentId: "b", sessionKey: "agent:b:slack:direct:U1", matchedBy: "binding.account", bindingIndex: 1 },
    ],
    [
      "an unknown tier",
      { agentId: "a", sessionKey: "agent:a:slack:direct:U1", matchedBy: "binding.all", bindingIndex: 0 },
    ],
    [
      "another agent as the default",
      { agentId: "b", sessionKey: "agent:b:slack:direct:U1", matchedBy: "default" },
    ],
  ])("is ignored if it returns %s", async (_, route) => {
    const honest = createRouter(config);
    const { digest } = honest.explain(message).cache;
    const store: RouteCacheStore = {
      load: async () => [{ digest, route }],
      put: async () => {},
      prune: async () => 0,
    };
    const router = createRouter(config, { cache: store });
    await router.warm();
    expect(router.explain(message).cache.source).toBe("none");
    expect(router.resolve(message)).toEqual(honest.resolve(message));
  });

  it("does not affect routes if it fails", async () => {
    const errors: unknown[] = [];
    const broken: RouteCacheStore = {
      load: () => Promise.reject(new Error("load")),
      put: () => Promise.reject(new Error("put")),
      prune: () => Promise.reject(new Error("prune")),
    };
    const router = createRouter(config, {
      cache: broken,
      clock: handClock(),
      onCacheError: (error) => errors.push(error),
    });
    expect(await router.warm()).toBe(0);
    expect(router.resolve(message).agentId).toBe("a");
    await router.flush();
    expect(errors).toEqual([new Error("load"), new Error("put")]);
  });

  it("is loaded even if pruning fails", async () => {
    const rowsByDigest = new Map<string, CachedRoute>();
    const errors: unknown[] = [];
    const cache: RouteCacheStore = {
      load: async () => [...rowsByDigest.values()],
      put: async (_config, rows) => {
        for (const row of rows) rowsByDigest.set(row.digest, row);
      },
      prune: () => Promise.reject(new Error("prune")),
    };
    const first = createRouter(config, { cache, clock: handClock() });
    first.resolve(message);
    await first.flush();
    const second = createRouter(config, {
      cache,
      clock: handClock(),
      onCacheError: (error) => errors.push(error),
    });
    expect(await second.warm()).toBe(1);
    expect(errors).toEqual([new Error("prune")]);
  });
});
