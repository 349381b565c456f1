import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Resolved routes. */
export const routeCache = sqliteTable(
  "route_cache",
  {
    digest: text().primaryKey(),
    config: text().notNull(),
    route: text().notNull(),
    at: integer().notNull(),
  },
  (t) => [index("route_cache_config").on(t.config, t.at)],
);
