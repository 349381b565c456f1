import type { RetentionConfig } from "@signalbox/config";
import type { MaintenanceStore, PruneReport, Retention } from "@signalbox/store";
import type { HomeLogger } from "../logger.ts";

const DAY_MS = 86_400_000;
const MEGABYTE = 1_000_000;

/** Converts the configured retention to the store's units. */
export function retentionOf(config: RetentionConfig): Retention {
  return {
    inboxMs: config.inboxDays * DAY_MS,
    dedupeMs: config.dedupeDays * DAY_MS,
    runsMs: config.journalDays * DAY_MS,
    outboxMs: config.outboxDays * DAY_MS,
    tracesMs: config.tracesDays * DAY_MS,
    traceRows: config.traces,
    traceBytes: config.tracesMegabytes * MEGABYTE,
    hiddenMessagesMs: config.hiddenMessagesDays * DAY_MS,
    idleSessionsMs: config.idleSessionsDays === undefined ? undefined : config.idleSessionsDays * DAY_MS,
    sessions: config.sessions,
    databaseBytes: config.databaseMegabytes * MEGABYTE,
  };
}

/** Prunes the store and logs the result. */
export async function pruneStore(
  maintenance: Pick<MaintenanceStore, "prune">,
  config: RetentionConfig,
  logger: Pick<HomeLogger, "debug" | "info" | "warn">,
): Promise<PruneReport> {
  const report = await maintenance.prune(retentionOf(config));
  logger.debug(report, "old rows were removed");
  if (report.sessions > 0)
    logger.info({ sessions: report.sessions }, "conversations were removed by the retention settings");
  if (report.usedBytes > config.databaseMegabytes * MEGABYTE) {
    const { usedBytes } = report;
    logger.warn(
      { usedBytes, databaseMegabytes: config.databaseMegabytes },
      "the database is larger than retention.databaseMegabytes, but everything left in it must be kept",
    );
  }
  return report;
}
