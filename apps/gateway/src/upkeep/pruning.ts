import type { RetentionConfig } from "@signalbox/config";
import type { PruneReport, Retention } from "@signalbox/store";
import { messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { GatewayStore } from "../store.ts";

const DAY_MS = 86_400_000;
const MEGABYTE = 1_000_000;

/** The configured retention in the store's units. */
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
    ...(config.idleSessionsDays === undefined ? {} : { idleSessionsMs: config.idleSessionsDays * DAY_MS }),
    ...(config.sessions === undefined ? {} : { sessions: config.sessions }),
    databaseBytes: config.databaseMegabytes * MEGABYTE,
  };
}

/** Removes what is over its time or number, tells of it, and notes when that was. */
export async function pruneStore(
  store: GatewayStore,
  config: RetentionConfig,
  logger: Logger,
  now: () => number,
): Promise<PruneReport> {
  const report = await store.maintenance.prune(retentionOf(config));
  await store.kv.set(...LAST, now());
  logger.debug(report, "old rows were removed");
  if (report.sessions > 0)
    logger.info({ sessions: report.sessions }, "conversations were removed, as retention says");
  if (report.usedBytes > config.databaseMegabytes * MEGABYTE) {
    const { usedBytes } = report;
    logger.warn(
      { usedBytes, databaseMegabytes: config.databaseMegabytes },
      "the database is larger than retention.databaseMegabytes: what is left in it is kept on purpose",
    );
  }
  return report;
}

export interface PruningOptions {
  readonly store: GatewayStore;
  readonly config: RetentionConfig;
  /** Whether people wait for answers just now. */
  readonly busy: () => boolean;
  /** Removes attachments that nothing needs any more. */
  readonly pruneMedia: () => Promise<void>;
  readonly logger: Logger;
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
}

/** Prunes once an hour, counted over restarts. */
export interface Pruning {
  /** Prunes now. */
  prune(): Promise<PruneReport>;
  start(): Promise<void>;
  stop(): void;
}

/** Where the time of the last pruning is kept. */
const LAST = ["maintenance", "pruned"] as const;
const EVERY_MS = 60 * 60_000;
/** After a start: who has just started has other things to do, and many gateways may start at once. */
const EARLIEST_MS = 60_000;
const JITTER_MS = 120_000;
/** A gateway that never lives for long has to do it some time. */
const OVERDUE_MS = 24 * 60 * 60_000;
const OVERDUE_EARLIEST_MS = 5_000;
/** How long a quiet moment is waited for, and how often. */
const QUIET_MS = 15_000;
const QUIET_TRIES = 20;

export function createPruning(options: PruningOptions): Pruning {
  const { store, config, logger, now, random } = options;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const prune = async (): Promise<PruneReport> => {
    const report = await pruneStore(store, config, logger, now);
    await options.pruneMedia();
    return report;
  };

  const later = (ms: number, tries: number): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      if (options.busy() && tries < QUIET_TRIES) return later(QUIET_MS, tries + 1);
      prune()
        .catch((error: unknown) => logger.warn({ err: messageOf(error) }, "old rows could not be removed"))
        .finally(() => later(EVERY_MS, 0));
    }, ms);
    timer.unref();
  };

  return {
    prune,
    async start() {
      const kept = await store.kv.get(...LAST).catch(() => undefined);
      // A clock that was put back makes it look like the future.
      const last = typeof kept === "number" && kept <= now() ? kept : Number.NEGATIVE_INFINITY;
      const since = now() - last;
      const earliest =
        since > OVERDUE_MS && kept !== undefined
          ? OVERDUE_EARLIEST_MS * (1 + random())
          : EARLIEST_MS + JITTER_MS * random();
      later(Math.max(EVERY_MS - since, earliest), 0);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
