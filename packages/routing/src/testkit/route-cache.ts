import { deepEqual, equal } from "node:assert/strict";
import type { CachedRoute, RouteCacheStore } from "../route-cache.ts";
import { createRouter } from "../router.ts";
import type { RouteInput, RoutingConfig } from "../types.ts";

export interface RouteCacheConformance {
  /** Functions of vitest, `node:test` or another test runner. */
  readonly test: {
    describe(name: string, body: () => void): void;
    it(name: string, body: () => Promise<void>): void;
  };
  /** Opens an empty store. Called once per test. */
  open(): RouteCacheStore | Promise<RouteCacheStore>;
}

const CHECKS: Readonly<Record<string, (store: RouteCacheStore) => Promise<void>>> = {
  "loads the routes of one configuration, newest first": async (store) => {
    await store.put("c", [row("1"), row("2")]);
    await store.put("other", [row("9")]);
    await store.put("c", [row("3")]);
    deepEqual(await digests(store, "c", 10), ["3", "2", "1"]);
  },

  "loads at most the requested number of routes": async (store) => {
    await store.put("c", [row("1"), row("2"), row("3")]);
    deepEqual(await digests(store, "c", 2), ["3", "2"]);
    deepEqual(await digests(store, "c", 0), []);
  },

  "loads routes unchanged": async (store) => {
    const route = { agentId: "张三", sessionKey: "agent:a:slack:direct:%3A", bindingIndex: 0 };
    await store.put("c", [{ digest: "1", route }]);
    deepEqual(
      (await store.load("c", 1)).map((loaded) => ({ ...loaded })),
      [{ digest: "1", route }],
    );
  },

  "replaces a route with the same digest and makes it the newest": async (store) => {
    await store.put("c", [row("1"), row("2")]);
    await store.put("c", [row("1", "new")]);
    deepEqual(
      (await store.load("c", 10)).map(({ digest, route }) => ({ digest, route })),
      [row("1", "new"), row("2")],
    );
  },

  "prune removes the routes of every other configuration and returns their number": async (store) => {
    await store.put("old", [row("1"), row("2")]);
    await store.put("older", [row("3")]);
    await store.put("c", [row("4")]);
    equal(await store.prune("c"), 3);
    equal(await store.prune("c"), 0);
    deepEqual(await digests(store, "old", 10), []);
    deepEqual(await digests(store, "c", 10), ["4"]);
  },

  "stores many rows at once, and accepts an empty list": async (store) => {
    const rows = Array.from({ length: 500 }, (_, i) => row(`${i}`));
    await store.put("c", rows);
    await store.put("c", []);
    deepEqual(await digests(store, "c", 1_000), rows.map(({ digest }) => digest).reverse());
  },

  "warms a restarted router": async (store) => {
    const before = createRouter(CONFIG, { cache: store });
    const route = before.resolve(MESSAGE);
    await before.flush();
    const after = createRouter(CONFIG, { cache: store });
    equal(await after.warm(), 1);
    equal(after.explain(MESSAGE).cache.source, "store");
    deepEqual(after.resolve(MESSAGE), route);
  },
};

/** Declares the conformance tests of a `RouteCacheStore`. */
export function runRouteCacheConformance({ test: { describe, it }, open }: RouteCacheConformance): void {
  describe("RouteCacheStore", () => {
    for (const [name, check] of Object.entries(CHECKS)) it(name, async () => check(await open()));
  });
}

const CONFIG: RoutingConfig = {
  agents: ["main", "support"],
  defaultAgent: "main",
  bindings: [{ agent: "support", match: { channel: "slack", teamId: "T1" } }],
};
const MESSAGE: RouteInput = {
  channel: "slack",
  account: "main",
  peer: { kind: "direct", id: "U1" },
  teamId: "T1",
};

function row(digest: string, agentId: string = digest): CachedRoute {
  return { digest, route: { agentId } };
}

async function digests(store: RouteCacheStore, config: string, limit: number): Promise<string[]> {
  return (await store.load(config, limit)).map(({ digest }) => digest);
}
