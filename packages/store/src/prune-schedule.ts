import type { KvStore } from "./types/kv.ts";
import type { PruneReport } from "./types/maintenance.ts";

export interface PruneScheduleOptions {
  /** Stores the time of the last pruning. */
  readonly kv: Pick<KvStore, "get" | "set">;
  readonly prune: () => Promise<PruneReport>;
  /** Returns whether anyone is waiting for an answer. */
  readonly busy: () => boolean;
  /** Returns false while another process prunes the store. Default: always true */
  readonly isDue?: () => boolean;
  readonly onFailure: (error: unknown) => void;
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
}

/** Prunes once an hour, even across restarts, when nobody is waiting for an answer. */
export interface PruneSchedule {
  /** Prunes now. */
  prune(): Promise<PruneReport>;
  start(): Promise<void>;
  stop(): void;
}

const LAST = ["maintenance", "pruned"] as const;
const EVERY_MS = 60 * 60_000;
/** Minimum delay after startup, in milliseconds. Jitter is added, because many gateways may start at the same time. */
const EARLIEST_MS = 60_000;
const JITTER_MS = 120_000;
/**
 * Maximum age of the last pruning, in milliseconds. If it is older, pruning runs soon after startup. Otherwise a
 * gateway that restarts often would never prune.
 */
const OVERDUE_MS = 24 * 60 * 60_000;
const OVERDUE_EARLIEST_MS = 5_000;
/** Delay while the gateway is busy, in milliseconds, and the maximum number of such delays. */
const QUIET_MS = 15_000;
const QUIET_TRIES = 20;

export function createPruneSchedule(options: PruneScheduleOptions): PruneSchedule {
  const { kv, now, random } = options;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const prune = async (): Promise<PruneReport> => {
    const report = await options.prune();
    await kv.set(...LAST, now());
    return report;
  };

  const later = (ms: number, tries: number): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      if (options.isDue?.() === false) return later(EVERY_MS, 0);
      if (options.busy() && tries < QUIET_TRIES) return later(QUIET_MS, tries + 1);
      prune()
        .catch(options.onFailure)
        .finally(() => later(EVERY_MS, 0));
    }, ms);
    timer.unref();
  };

  return {
    prune,
    async start() {
      const kept = await kv.get(...LAST).catch(() => undefined);
      // A time in the future means that the clock was set back.
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
