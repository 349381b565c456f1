import { decodeIntact, encode } from "@signalbox/store/backend";
import type { JsonValue, LiveEventStore } from "@signalbox/store/types";
import { and, eq, exists, gt, inArray, lte, ne, notExists, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import { liveEvent, liveWatch } from "./schema/index.ts";

export function createLiveEventStore({ database }: Context): LiveEventStore {
  return {
    watch: (watches, ttlMs) =>
      database.write(async ({ db, send }) => {
        if (watches.length === 0) return;
        const expiresAt = sql<number>`${database.now()} + ${ttlMs}`;
        const rows = watches.map(({ id, node, sessionKey }) => ({ id, node, sessionKey, expiresAt }));
        send(
          db.insert(liveWatch).values(rows).onConflictDoUpdate({ target: liveWatch.id, set: { expiresAt } }),
        );
      }, "live watches"),

    unwatch: (ids) =>
      database.write(async ({ db, send }) => {
        if (ids.length === 0) return;
        send(db.delete(liveWatch).where(inArray(liveWatch.id, [...ids])));
        send(db.delete(liveEvent).where(inArray(liveEvent.watch, [...ids])));
      }, "live watches"),

    watches: (node) =>
      database.query((db) =>
        db
          .select({ id: liveWatch.id, node: liveWatch.node, sessionKey: liveWatch.sessionKey })
          .from(liveWatch)
          .where(and(ne(liveWatch.node, node), gt(liveWatch.expiresAt, database.now()))),
      ),

    async send(events) {
      const rows = events.map(({ watch, body }) => ({ watch, body: encode(body, "A live event") }));
      return database.write(async ({ db, send }) => {
        if (rows.length === 0) return;
        const ids = [...new Set(rows.map(({ watch }) => watch))];
        const open = await db.select({ id: liveWatch.id }).from(liveWatch).where(inArray(liveWatch.id, ids));
        const wanted = rows.filter(({ watch }) => open.some(({ id }) => id === watch));
        if (wanted.length > 0) send(db.insert(liveEvent).values(wanted));
      }, "live events");
    },

    receive: (node) =>
      database.write(async ({ db }) => {
        const isForNode = exists(
          db
            .select({ one: sql`1` })
            .from(liveWatch)
            .where(and(eq(liveWatch.id, liveEvent.watch), eq(liveWatch.node, node))),
        );
        const rows = await db.delete(liveEvent).where(isForNode).returning();
        return rows
          .toSorted((a, b) => a.n - b.n)
          .map(({ watch, body }) => ({ watch, body: decodeIntact<JsonValue>(body) ?? null }));
      }, `live events ${node}`),

    prune: () =>
      database.write(async ({ db, send }) => {
        send(db.delete(liveWatch).where(lte(liveWatch.expiresAt, database.now())));
        const isWatched = db.select({ one: sql`1` }).from(liveWatch).where(eq(liveWatch.id, liveEvent.watch));
        send(db.delete(liveEvent).where(notExists(isWatched)));
      }, "live watches"),
  };
}
