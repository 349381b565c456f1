import { desc, eq, ne } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { decodeIntact, encode } from "./json.ts";
import { routeCache } from "./schema/index.ts";
import type { JsonValue } from "./types/common.ts";
import type { RouteCacheStore } from "./types/routes.ts";

const DEFAULT_LIMIT = 2000;

export function createRouteCacheStore({ database, queue, now }: Context): RouteCacheStore {
  const { db } = database;
  const newest = database.query((p: Bound<{ config: string; limit: number }>) =>
    db
      .select({ digest: routeCache.digest, route: routeCache.route })
      .from(routeCache)
      .where(eq(routeCache.config, p("config")))
      .orderBy(desc(routeCache.at))
      .limit(p("limit")),
  );
  const put = database.replace(routeCache, [routeCache.digest]);
  /** Time of the latest write. Times are unique, so that routes from the same write keep their order. */
  let newestAt = 0;
  const prune = database.command((p: Bound<{ config: string }>) =>
    db.delete(routeCache).where(ne(routeCache.config, p("config"))),
  );

  return {
    load: (config, limit) =>
      queue.read(() =>
        newest.all({ config, limit: limit ?? DEFAULT_LIMIT }).flatMap(({ digest, route: text }) => {
          const route = decodeIntact<JsonValue>(text);
          return route === undefined ? [] : [{ digest, route }];
        }),
      ),
    async put(config, rows) {
      const encoded = rows.map(({ digest, route }) => ({ digest, route: encode(route, "A route") }));
      return queue.write(() => {
        for (const { digest, route } of encoded) {
          newestAt = Math.max(newestAt + 1, now());
          put.run({ digest, config, route, at: newestAt });
        }
      });
    },
    prune: (keepConfig) => queue.write(() => prune.run({ config: keepConfig }).changes),
  };
}
