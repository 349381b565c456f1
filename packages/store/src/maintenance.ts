import { backupTo } from "./backup.ts";
import type { Context } from "./context.ts";
import { copyElsewhere, vacuumElsewhere } from "./elsewhere.ts";
import { schemaVersion } from "./migrate.ts";
import type { MaintenanceStore, PruneReport, Retention, StoreStats } from "./types/store.ts";
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
  const { raw } = database;
  const number = (sql: string) => {
    const query = database.query<[], { value: number }>(sql);
    return () => query.get()?.value ?? 0;
  };
  const inbox = database.query<[], { state: "accepted" | "queued" | "running"; n: number }>(
    "SELECT state, count(*) AS n FROM inbox WHERE settled_at IS NULL GROUP BY state",
  );
  const outbox = database.query<[], { state: keyof StoreStats["outbox"]; n: number }>(
    `SELECT state, count(*) AS n FROM outbox WHERE state IN ('pending', 'sending') GROUP BY state
     UNION ALL
     SELECT state, count(*) AS n FROM outbox WHERE state IN ('dead', 'uncertain', 'expired') GROUP BY state`,
  );
  const sessions = number("SELECT count(*) AS value FROM session");
  const messages = number("SELECT sum(last_seq) AS value FROM session");
  const active = number("SELECT count(*) AS value FROM active_run");
  const freePages = number("SELECT freelist_count AS value FROM pragma_freelist_count");
  const pages = number("SELECT page_count AS value FROM pragma_page_count");
  const pageSize = number("SELECT page_size AS value FROM pragma_page_size");
  const problems = database.query<[], { integrity_check: string }>("PRAGMA integrity_check(100)");

  return {
    prune: (retention) => parts.prune(retention ?? {}),

    async vacuum() {
      const before = await queue.read(() => pages() * pageSize());
      const { log } = parts;
      if (log === undefined) await queue.read(() => raw.exec("VACUUM"));
      else await queue.whileLocked(() => log.leaveTo(() => vacuumElsewhere(parts.path)));
      await parts.checkpoint();
      return { freedBytes: Math.max(0, before - pages() * pageSize()) };
    },

    async backup(toPath) {
      await queue.read(() => undefined);
      return backupTo(toPath, async (part) => {
        if (parts.log === undefined) raw.prepare("VACUUM INTO ?").run(part);
        else await copyElsewhere(parts.path, part);
      });
    },

    integrity: () =>
      queue.read(() => {
        const found = problems.all().map((row) => row.integrity_check);
        return found.length === 1 && found[0] === "ok"
          ? { ok: true, problems: [] }
          : { ok: false, problems: found };
      }),

    stats: () =>
      queue.read(() => {
        const inboxCounts = { accepted: 0, queued: 0, running: 0 };
        for (const { state, n } of inbox.all()) inboxCounts[state] = n;
        const outboxCounts = { pending: 0, sending: 0, uncertain: 0, dead: 0, expired: 0 };
        for (const { state, n } of outbox.all()) outboxCounts[state] = n;
        return {
          path: parts.path,
          version: schemaVersion,
          fileBytes: pages() * pageSize(),
          walBytes: parts.log?.bytes() ?? 0,
          freeBytes: freePages() * pageSize(),
          inbox: inboxCounts,
          outbox: outboxCounts,
          sessions: sessions(),
          messages: messages(),
          runsActive: active(),
          ...queue.counts,
        };
      }),

    checkpoint: () => parts.checkpoint(),
  };
}
