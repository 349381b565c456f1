import { decodeIntact, encode } from "@signalbox/store/backend";
import type { JsonValue, RouteCacheStore } from "@signalbox/store/types";
import { desc, eq, ne, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import { routeCache } from "./schema/index.ts";

const DEFAULT_LIMIT = 2000;

export function createRouteCacheStore({ database }: Context): RouteCacheStore {
  /** Time of the latest write. Times are unique, so that routes from the same write keep their order. */
  let newestAt = 0;

  return {
    load: (config, limit) =>
      database.query(async (db) => {
        const rows = await db
          .select({ digest: routeCache.digest, route: routeCache.route })
          .from(routeCache)
          .where(eq(routeCache.config, config))
          .orderBy(desc(routeCache.at))
          .limit(limit ?? DEFAULT_LIMIT);
        return rows.flatMap(({ digest, route: text }) => {
          const route = decodeIntact<JsonValue>(text);
          return route === undefined ? [] : [{ digest, route }];
        });
      }),
    async put(config, rows) {
      const encoded = rows.map(({ digest, route }) => ({ digest, route: encode(route, "A route") }));
      if (encoded.length === 0) return;
      return database.write(async ({ db, send, now }) => {
        const at = await now;
        const values = encoded.map((row) => {
          newestAt = Math.max(newestAt + 1, at);
          return { ...row, config, at: newestAt };
        });
        // An insert cannot replace the same row twice.
        const latest = [...new Map(values.map((row) => [row.digest, row])).values()];
        const set = { config, route: sql`excluded.route`, at: sql`excluded.at` };
        send(db.insert(routeCache).values(latest).onConflictDoUpdate({ target: routeCache.digest, set }));
      }, "routes");
    },
    prune: (keepConfig) =>
      database.write(({ db, change }) =>
        change(db.delete(routeCache).where(ne(routeCache.config, keepConfig))),
      ),
  };
}
