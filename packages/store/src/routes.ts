import type { Context } from "./context.ts";
import { decode, encode } from "./json.ts";
import type { JsonValue } from "./types/common.ts";
import type { RouteCacheStore } from "./types/side.ts";

export function createRouteCacheStore({ database, queue, now }: Context): RouteCacheStore {
  const get = database.query<[string], { route: string }>("SELECT route FROM route_cache WHERE digest = ?");
  const load = database.query<[string, number], { digest: string; route: string }>(
    "SELECT digest, route FROM route_cache WHERE config = ? ORDER BY at DESC LIMIT ?",
  );
  const put = database.command<[string, string, string, number]>(
    "INSERT OR REPLACE INTO route_cache (digest, config, route, at) VALUES (?, ?, ?, ?)",
  );
  const prune = database.command<[string]>("DELETE FROM route_cache WHERE config <> ?");

  return {
    get: (digest) =>
      queue.read(() => {
        const row = get.get(digest);
        return row === undefined ? undefined : decode<JsonValue>(row.route);
      }),
    load: (config, limit) =>
      queue.read(() =>
        load
          .all(config, limit ?? 2000)
          .map(({ digest, route }) => ({ digest, route: decode<JsonValue>(route) })),
      ),
    async put(config, rows) {
      const encoded = rows.map(({ digest, route }) => ({ digest, route: encode(route, "A route") }));
      return queue.write(() => {
        for (const { digest, route } of encoded) put.run(digest, config, route, now());
      });
    },
    prune: (keepConfig) => queue.write(() => prune.run(keepConfig)),
  };
}
