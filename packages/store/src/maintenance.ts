import { count, isNull, sum } from "drizzle-orm";
import { backupTo } from "./backup.ts";
import type { Context } from "./context.ts";
import { copyOnThread, vacuumOnThread } from "./file-worker.ts";
import { schemaVersion } from "./migrate.ts";
import { activeRun, inbox, isGivenUp, isUnsent, outbox, session } from "./schema/index.ts";
import type { MaintenanceStore, PruneReport, Retention } from "./types/store.ts";
import type { WriteAheadLog } from "./write-ahead-log.ts";

interface Parts {
  readonly path: string;
  /** Absent in memory. */
  readonly log: WriteAheadLog | undefined;
  readonly prune: (retention: Retention) => Promise<PruneReport>;
  /** Runs a checkpoint between two batches. */
  readonly checkpoint: () => Promise<void>;
}

export function createMaintenanceStore({ database, queue }: Context, parts: Parts): MaintenanceStore {
  const { raw, db } = database;
  const pragma = (name: string) => Number(raw.pragma(name, { simple: true }));
  const fileBytes = () => pragma("page_count") * pragma("page_size");
  const inboxCounts = database.query(() =>
    db
      .select({ state: inbox.state, n: count() })
      .from(inbox)
      .where(isNull(inbox.settledAt))
      .groupBy(inbox.state),
  );
  // Two, since no one index has them all.
  const unsentCounts = database.query(() =>
    db.select({ state: outbox.state, n: count() }).from(outbox).where(isUnsent).groupBy(outbox.state),
  );
  const givenUpCounts = database.query(() =>
    db.select({ state: outbox.state, n: count() }).from(outbox).where(isGivenUp).groupBy(outbox.state),
  );
  const sessionCounts = database.query(() =>
    db.select({ sessions: count(), messages: sum(session.lastSeq).mapWith(Number) }).from(session),
  );
  const activeCount = database.query(() => db.select({ n: count() }).from(activeRun));
  const problems = database.handWritten<object, { integrity_check: string }>("PRAGMA integrity_check(100)");

  return {
    prune: (retention) => parts.prune(retention ?? {}),

    async vacuum() {
      const before = await queue.read(fileBytes);
      const { log } = parts;
      if (log === undefined) await queue.read(() => raw.exec("VACUUM"));
      else await queue.whileLocked(() => log.leaveTo(() => vacuumOnThread(parts.path)));
      await parts.checkpoint();
      return { freedBytes: Math.max(0, before - fileBytes()) };
    },

    async backup(toPath) {
      await queue.read(() => undefined);
      return backupTo(toPath, async (part) => {
        if (parts.log === undefined) raw.prepare("VACUUM INTO ?").run(part);
        else await copyOnThread(parts.path, part);
      });
    },

    integrity: () =>
      queue.read(() => {
        const told = problems.all().map((row) => row.integrity_check);
        const ok = told.length === 1 && told[0] === "ok";
        return { ok, problems: ok ? [] : told };
      }),

    stats: () =>
      queue.read(() => {
        const byState = (rows: readonly { state: string; n: number }[], state: string) =>
          rows.find((row) => row.state === state)?.n ?? 0;
        const unfinished = inboxCounts.all();
        const unsent = unsentCounts.all();
        const givenUp = givenUpCounts.all();
        const { sessions, messages } = sessionCounts.get() ?? { sessions: 0, messages: 0 };
        return {
          path: parts.path,
          version: schemaVersion(),
          fileBytes: fileBytes(),
          walBytes: parts.log?.bytes() ?? 0,
          freeBytes: pragma("freelist_count") * pragma("page_size"),
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
          sessions,
          messages: messages ?? 0,
          runsActive: activeCount.get()?.n ?? 0,
          ...queue.counts,
        };
      }),

    checkpoint: () => parts.checkpoint(),
  };
}
