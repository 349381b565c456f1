import { count, isNull, min } from "drizzle-orm";
import type { Context } from "./context.ts";
import { getOldest } from "./oldest.ts";
import { activeRun, inbox, isGivenUp, isUnsent, outbox } from "./schema/index.ts";
import type { EraseRequest, MaintenanceStore, PruneReport, Retention } from "./types/maintenance.ts";

export function createMaintenanceStore(
  { database, queue }: Context,
  prune: (retention: Retention) => Promise<PruneReport>,
  erase: (request: EraseRequest) => Promise<number>,
): MaintenanceStore {
  const { db } = database;
  const inboxCounts = database.query(() =>
    db
      .select({ state: inbox.state, n: count(), oldestAt: min(inbox.receivedAt) })
      .from(inbox)
      .where(isNull(inbox.settledAt))
      .groupBy(inbox.state),
  );
  // Use two queries, because no single index covers all these states.
  const unsentCounts = database.query(() =>
    db
      .select({ state: outbox.state, n: count(), oldestAt: min(outbox.createdAt) })
      .from(outbox)
      .where(isUnsent)
      .groupBy(outbox.state),
  );
  const givenUpCounts = database.query(() =>
    db.select({ state: outbox.state, n: count() }).from(outbox).where(isGivenUp).groupBy(outbox.state),
  );
  const size = database.handWritten<object, { bytes: number }>(
    "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size",
  );
  const activeCount = database.query(() => db.select({ n: count() }).from(activeRun));

  return {
    prune: (retention) => prune(retention ?? {}),
    erase,

    stats: () =>
      queue.read(() => {
        const byState = (rows: readonly { state: string; n: number }[], state: string) =>
          rows.find((row) => row.state === state)?.n ?? 0;
        const unfinished = inboxCounts.all();
        const unsent = unsentCounts.all();
        const givenUp = givenUpCounts.all();
        return {
          inbox: {
            accepted: byState(unfinished, "accepted"),
            queued: byState(unfinished, "queued"),
            running: byState(unfinished, "running"),
          },
          outbox: {
            pending: byState(unsent, "pending"),
            sending: byState(unsent, "sending"),
            uncertain: byState(givenUp, "uncertain"),
            dead: byState(givenUp, "dead"),
            expired: byState(givenUp, "expired"),
          },
          runsActive: activeCount.get()?.n ?? 0,
          ...getOldest(unfinished, unsent),
          databaseBytes: size.get()?.bytes ?? 0,
          ...queue.counts,
        };
      }),
  };
}
