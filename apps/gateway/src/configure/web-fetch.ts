import type { Config } from "@signalbox/config";
import { createGuardedFetch, type GuardedFetch } from "@signalbox/tools";

/** The largest attachment that any channel takes is far below. */
const MOST_BYTES = 200_000_000;

/** The one way of a host to addresses that people or models name. */
export interface WebFetch {
  readonly fetch: GuardedFetch;
  /** From now on these settings apply. */
  configure(config: Pick<Config, "tools">): void;
}

export function createWebFetch(config: Pick<Config, "tools">): WebFetch {
  let current = guardedFetch(config);
  return {
    fetch: (...asked) => current(...asked),
    configure(next) {
      current = guardedFetch(next);
    },
  };
}

function guardedFetch({ tools: { web } }: Pick<Config, "tools">): GuardedFetch {
  const { allow, timeoutMs } = web;
  return createGuardedFetch({ allow, timeoutMs, maxBytes: MOST_BYTES });
}
