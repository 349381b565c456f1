import { getOldest } from "@signalbox/store/backend";
import type { EraseRequest, MaintenanceStore, PruneReport, Retention } from "@signalbox/store/types";
import { count, isNotNull, isNull, min, or, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import { inbox, isGivenUp, isUnsent, outbox, session } from "./schema/index.ts";
import { ONE_ROW } from "./transaction.ts";

const DATABASE_BYTES = sql<number>`pg_database_size(current_database())`.mapWith(Number);

export function createMaintenanceStore(
  { database }: Context,
  prune: (retention: Retention) => Promise<PruneReport>,
  erase: (request: EraseRequest) => Promise<number>,
): MaintenanceStore {
  return {
    prune: (retention) => prune(retention ?? {}),
    erase,

    stats: () =>
      database.read(async ({ db }) => {
        const [messages, replies, active, size] = await Promise.all([
          db
            .select({ state: inbox.state, n: count(), oldestAt: min(inbox.receivedAt) })
            .from(inbox)
            .where(isNull(inbox.settledAt))
            .groupBy(inbox.state),
          db
            .select({ state: outbox.state, n: count(), oldestAt: min(outbox.createdAt) })
            .from(outbox)
            .where(or(isUnsent, isGivenUp))
            .groupBy(outbox.state),
          db.select({ n: count() }).from(session).where(isNotNull(session.activeRun)),
          db.select({ bytes: DATABASE_BYTES }).from(ONE_ROW),
        ]);
        const countOf = (rows: readonly { state: string; n: number }[], state: string) =>
          rows.find((row) => row.state === state)?.n ?? 0;
        return {
          inbox: {
            accepted: countOf(messages, "accepted"),
            queued: countOf(messages, "queued"),
            running: countOf(messages, "running"),
          },
          outbox: {
            pending: countOf(replies, "pending"),
            sending: countOf(replies, "sending"),
            uncertain: countOf(replies, "uncertain"),
            dead: countOf(replies, "dead"),
            expired: countOf(replies, "expired"),
          },
          runsActive: active[0]?.n ?? 0,
          ...getOldest(
            messages,
            replies.filter(({ state }) => state === "pending" || state === "sending"),
          ),
          databaseBytes: size[0]?.bytes ?? 0,
          ...database.counts,
        };
      }),
  };
}
