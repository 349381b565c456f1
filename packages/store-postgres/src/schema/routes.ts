import { index, pgTable } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** Resolved routes. */
export const routeCache = pgTable(
  "route_cache",
  {
    digest: string().primaryKey(),
    config: string().notNull(),
    route: string().notNull(),
    at: integer().notNull(),
  },
  (t) => [index("route_cache_config").on(t.config, t.at)],
);
