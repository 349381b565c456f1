import type { Lease } from "@signalbox/store";
import { prune, pruneOnce, renew } from "./hold.ts";
import type { Logger } from "./log.ts";
import type { GatewayStore } from "./path/stored.ts";

export interface UpkeepOptions {
  readonly store: GatewayStore;
  readonly lease: Lease;
  readonly leaseMs: number;
  /** Removes attachments that nothing needs any more. */
  readonly pruneMedia: () => Promise<void>;
  /** Looks for replies that are due. */
  readonly wakeOutbox: () => void;
  readonly logger: Logger;
  readonly now: () => number;
  /** Told when the lease is lost. */
  readonly onLost: (error: Error) => void;
}

/** What a gateway does from time to time while it runs. */
export interface Upkeep {
  /** Removes nothing more; the lease is kept. */
  rest(): void;
  /** Lets the lease run out. */
  stop(): void;
}

/** The lease is renewed so often while it lasts. */
const RENEWALS = 3;
const PRUNE_MS = 60 * 60_000;
const PRUNE_ONCE_MS = 5 * 60_000;

export function startUpkeep(options: UpkeepOptions): Upkeep {
  const { store, lease, leaseMs, logger, now } = options;
  const renewing = setInterval(() => {
    void renew(store, lease, leaseMs, options.onLost, logger);
    // Shares the commit; finds rows that another process has put back and nobody told of.
    options.wakeOutbox();
  }, leaseMs / RENEWALS);
  void options.pruneMedia();
  const pruning = setInterval(() => void prune(store, logger).then(options.pruneMedia), PRUNE_MS);
  const forgetting = setInterval(() => void pruneOnce(store, lease, now, logger), PRUNE_ONCE_MS);
  for (const timer of [renewing, pruning, forgetting]) timer.unref();
  return {
    rest() {
      clearInterval(pruning);
      clearInterval(forgetting);
    },
    stop: () => clearInterval(renewing),
  };
}
