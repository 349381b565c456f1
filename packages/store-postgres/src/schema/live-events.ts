import { index, pgTable } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** Sessions with viewers on a node. The migration creates both tables as `UNLOGGED`. */
export const liveWatch = pgTable(
  "live_watch",
  {
    id: string().primaryKey(),
    node: string().notNull(),
    sessionKey: string().notNull(),
    expiresAt: integer().notNull(),
  },
  (t) => [index("live_watch_node").on(t.node)],
);

/** Events for the nodes of viewers, until these read them. */
export const liveEvent = pgTable(
  "live_event",
  {
    n: integer().primaryKey().generatedByDefaultAsIdentity(),
    watch: string().notNull(),
    body: string().notNull(),
  },
  (t) => [index("live_event_watch").on(t.watch)],
);
