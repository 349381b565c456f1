import { reasonOf } from "@signalbox/agent-core";
import type { RetentionConfig } from "@signalbox/config";
import {
  createPruneSchedule,
  isFatal,
  type Lease,
  type PruneReport,
  type Store,
  type StoreAdmin,
} from "@signalbox/store";
import type { LeaseTerm } from "../lease-term.ts";
import type { HomeLogger } from "../logger.ts";
import type { MaintenanceLease } from "./maintenance-lease.ts";
import { type OneOffs, pruneOneOffs } from "./one-offs.ts";
import { pruneStore } from "./pruning.ts";

export interface MaintenanceOptions {
  readonly store: Pick<Store, "leases" | "kv" | "sessions" | "maintenance"> & {
    /** Absent if the database is not an SQLite file. */
    readonly admin?: Pick<StoreAdmin, "vacuum">;
  };
  readonly lease: Lease;
  readonly leaseMs: number;
  /** Extended by each renewal of `lease`, after the other leases were renewed. */
  readonly leaseTerm: Pick<LeaseTerm, "begin">;
  /** Returns the current retention settings. Called for each pruning. */
  readonly retention: () => RetentionConfig;
  /** Identifies conversations with a single request, which are removed early. */
  readonly oneOffs: Pick<OneOffs, "channel" | "isOneOff">;
  /** Returns true while people are waiting for answers. */
  readonly busy: () => boolean;
  /** Removes attachments that are no longer needed. */
  readonly pruneMedia: () => Promise<void>;
  /** Consolidates notes of past days in memory. */
  readonly consolidate: (signal: AbortSignal) => Promise<void>;
  /** Sends replies that are due. */
  readonly wakeOutbox: () => void;
  /** Takes over messages and runs whose process is gone. */
  readonly recover: () => Promise<void>;
  readonly logger: HomeLogger;
  readonly now: () => number;
  /** Renews the other leases that this gateway holds. */
  readonly renewLeases: () => Promise<void>;
  /** Decides which of several gateways prunes the store. */
  readonly duty: MaintenanceLease;
  /** Called after each attempt to renew the lease, with the error if it failed. Default: none */
  readonly onRenewal?: (error?: unknown) => void;
  /** Called when the lease is lost. */
  readonly onLost: (error: Error) => void;
}

/** Periodic work of a gateway. */
export interface Maintenance {
  start(): void;
  /** Prunes now. */
  prune(): Promise<PruneReport>;
  /** Returns free pages of the database to the file system. */
  vacuum(): Promise<{ readonly freedBytes: number }>;
  /** Stops all periodic work except renewing the leases. */
  rest(): void;
  /** Stops renewing the leases. */
  stop(): void;
}

/** Number of renewals within the duration of the lease. */
const RENEWALS = 3;
/** Interval of the search for unfinished work of other processes. */
const RECOVER_MS = 30_000;
const PRUNE_ONE_OFFS_MS = 5 * 60_000;
/** Interval of the consolidation. Short enough for gateways that never run for an hour. */
const CONSOLIDATE_MS = 30 * 60_000;

export function createMaintenance(options: MaintenanceOptions): Maintenance {
  const { store, lease, leaseMs, logger, now } = options;
  const pruning = createPruneSchedule({
    kv: store.kv,
    busy: options.busy,
    now,
    random: Math.random,
    async prune() {
      try {
        return await pruneStore(store.maintenance, options.retention(), logger);
      } finally {
        await options.pruneMedia();
      }
    },
    isDue: () => options.duty.isHeld(),
    onFailure: (error) => logger.warn({ err: reasonOf(error) }, "old rows could not be removed"),
  });
  let renewing: NodeJS.Timeout | undefined;
  let forgetting: NodeJS.Timeout | undefined;
  let looking: NodeJS.Timeout | undefined;
  let consolidating: NodeJS.Timeout | undefined;
  const resting = new AbortController();
  let vacuuming: Promise<{ readonly freedBytes: number }> | undefined;
  const every = (ms: number, work: () => void): NodeJS.Timeout => setInterval(work, ms).unref();
  return {
    start() {
      renewing = every(leaseMs / RENEWALS, () => {
        // Also look for rows that another process returned to the outbox without notice.
        void renewLease(options).then(options.wakeOutbox);
      });
      looking = every(RECOVER_MS, () => {
        options
          .recover()
          .catch((error: unknown) =>
            logger.warn({ err: reasonOf(error) }, "could not check for unfinished work"),
          );
      });
      void options.pruneMedia();
      void pruning.start();
      consolidating = every(CONSOLIDATE_MS, () => void options.consolidate(resting.signal));
      const oneOffs: OneOffs = { ...options.oneOffs, sessions: store.sessions, lease, now, logger };
      forgetting = every(PRUNE_ONE_OFFS_MS, () => {
        if (options.duty.isHeld()) void pruneOneOffs(oneOffs);
      });
    },
    prune: pruning.prune,
    async vacuum() {
      // PostgreSQL returns free space by itself.
      if (store.admin === undefined) return { freedBytes: 0 };
      vacuuming ??= store.admin.vacuum().finally(() => {
        vacuuming = undefined;
      });
      return vacuuming;
    },
    rest() {
      pruning.stop();
      resting.abort();
      for (const timer of [forgetting, looking, consolidating]) clearInterval(timer);
    },
    stop: () => clearInterval(renewing),
  };
}

/** Renews the leases. Calls `onLost` if that is no longer possible. */
async function renewLease(options: MaintenanceOptions): Promise<void> {
  const { store, lease, leaseMs, leaseTerm, onLost, logger } = options;
  const succeed = leaseTerm.begin();
  try {
    // Concurrent renewals share a commit.
    const [kept] = await Promise.all([store.leases.renew([lease], leaseMs), options.renewLeases()]);
    options.onRenewal?.();
    if (kept.length === 0) return onLost(new Error("another process has taken over this home"));
    // An expired lease can be renewed although other gateways have taken over agents. The renewal of the other leases
    // reveals it, so it must not extend the term before them.
    succeed();
    await options.duty.acquire();
  } catch (error) {
    options.onRenewal?.(error);
    logger.error({ err: reasonOf(error) }, "the lease could not be renewed");
    if (error instanceof Error && isFatal(error)) onLost(error);
  }
}
