import { reasonOf } from "@signalbox/agent-core";
import type { RetentionConfig } from "@signalbox/config";
import {
  createPruneSchedule,
  isFatal,
  type Lease,
  type PruneReport,
  type SqliteStore,
  type StoreAdmin,
} from "@signalbox/store";
import type { HomeLogger } from "../logger.ts";
import { type OneOffs, pruneOneOffs } from "./one-offs.ts";
import { pruneStore } from "./pruning.ts";

export interface UpkeepOptions {
  readonly store: Pick<SqliteStore, "leases" | "kv" | "sessions" | "maintenance"> & {
    readonly admin: Pick<StoreAdmin, "vacuum">;
  };
  readonly lease: Lease;
  readonly leaseMs: number;
  /** Asked each time. */
  readonly retention: () => RetentionConfig;
  /** Which conversations have one request alone, and need not be kept. */
  readonly oneOffs: Pick<OneOffs, "channel" | "isOneOff">;
  /** Whether people wait for answers just now. */
  readonly busy: () => boolean;
  /** Removes attachments that nothing needs any more. */
  readonly pruneMedia: () => Promise<void>;
  /** Draws what lasts from notes of past days. */
  readonly consolidate: (signal: AbortSignal) => Promise<void>;
  /** Looks for replies that are due. */
  readonly wakeOutbox: () => void;
  /** Takes up messages and runs that no process works on. */
  readonly recover: () => Promise<void>;
  readonly logger: HomeLogger;
  readonly now: () => number;
  /** Prolongs the leases of the accounts that run here. */
  readonly renewAccounts: () => Promise<void>;
  /** Told when the lease is lost. */
  readonly onLost: (error: Error) => void;
}

/** What a gateway does from time to time while it runs. */
export interface Upkeep {
  start(): void;
  /** Removes now what is over its time or number. */
  prune(): Promise<PruneReport>;
  /** Gives free pages of the database back. */
  vacuum(): Promise<{ readonly freedBytes: number }>;
  /** Removes nothing more and looks for no work; the lease is kept. */
  rest(): void;
  /** Lets the lease run out. */
  stop(): void;
}

/** The lease is renewed so often while it lasts. */
const RENEWALS = 3;
/** How often work that another process has left is looked for. */
const RECOVER_MS = 30_000;
const PRUNE_ONE_OFFS_MS = 5 * 60_000;
/** Notes of past days lie still; a gateway that is never up for an hour does it all the same. */
const CONSOLIDATE_MS = 30 * 60_000;

export function createUpkeep(options: UpkeepOptions): Upkeep {
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
        // Then for rows that another process has put back and nobody told of.
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
      forgetting = every(PRUNE_ONE_OFFS_MS, () => void pruneOneOffs(oneOffs));
    },
    prune: pruning.prune,
    vacuum() {
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

/** Keeps the leases; tells where that is not possible any more. */
async function renewLease(options: UpkeepOptions): Promise<void> {
  const { store, lease, leaseMs, onLost, logger } = options;
  try {
    // Asked for at once, they share a commit.
    const [kept] = await Promise.all([store.leases.renew([lease], leaseMs), options.renewAccounts()]);
    if (kept.length === 0) onLost(new Error("another process has taken over this home"));
  } catch (error) {
    logger.error({ err: reasonOf(error) }, "the lease could not be renewed");
    if (error instanceof Error && isFatal(error)) onLost(error);
  }
}
