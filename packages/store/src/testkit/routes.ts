import type { RouteCacheStore } from "../types/routes.ts";
import { type Checks, expectEqual } from "./under-test.ts";

function row(digest: string, agentId: string = digest) {
  return { digest, route: { agentId } };
}

async function getDigests(routes: RouteCacheStore, config: string, limit = 1_000): Promise<string[]> {
  return (await routes.load(config, limit)).map(({ digest }) => digest);
}

export const routeChecks: Checks = {
  "loads the routes of one configuration, newest first": async ({ store: { routes } }) => {
    await routes.put("c", [row("1"), row("2")]);
    await routes.put("other", [row("9")]);
    await routes.put("c", [row("3")]);
    expectEqual(await getDigests(routes, "c"), ["3", "2", "1"], "The routes or their order are wrong.");
    expectEqual(await getDigests(routes, "c", 2), ["3", "2"], "The limit is ignored.");
    expectEqual(await getDigests(routes, "c", 0), [], "A limit of 0 is ignored.");
  },

  "returns a route as it was stored": async ({ store: { routes } }) => {
    const route = { agentId: "张三", sessionKey: "agent:a:slack:direct:%3A", bindingIndex: 0 };
    await routes.put("c", [{ digest: "1", route }]);
    expectEqual(await routes.load("c", 1), [{ digest: "1", route }], "A route was changed by being stored.");
  },

  "replaces a route with the same digest, which is then the newest": async ({ store: { routes } }) => {
    await routes.put("c", [row("1"), row("2")]);
    await routes.put("c", [row("1", "new")]);
    expectEqual(await routes.load("c", 10), [row("1", "new"), row("2")], "The route was not replaced.");
  },

  "removes the routes of every other configuration, and counts them": async ({ store: { routes } }) => {
    await routes.put("old", [row("1"), row("2")]);
    await routes.put("older", [row("3")]);
    await routes.put("c", [row("4")]);
    expectEqual(await routes.prune("c"), 3, "The number of removed routes is wrong.");
    expectEqual(await routes.prune("c"), 0, "Routes were removed twice.");
    expectEqual(await getDigests(routes, "old"), [], "A route of an old configuration remains.");
    expectEqual(await getDigests(routes, "c"), ["4"], "A route of the current configuration was removed.");
  },

  "stores many routes at once, and none": async ({ store: { routes } }) => {
    const rows = Array.from({ length: 500 }, (_, i) => row(`${i}`));
    await routes.put("c", rows);
    await routes.put("c", []);
    const expected = rows.map(({ digest }) => digest).reverse();
    expectEqual(
      await getDigests(routes, "c"),
      expected,
      "Routes of one call are missing or in another order.",
    );
  },
};
