import type { Config } from "@signalbox/config";
import { createGuardedFetch, type GuardedFetch } from "@signalbox/tools";

/** Maximum size of a response, in bytes. This is above the attachment limit of every channel. */
const MAX_BYTES = 200_000_000;

/** Fetches URLs that people or models provide. All such requests of a host use this service. */
export interface WebFetch {
  readonly fetch: GuardedFetch;
  /** Applies new settings. */
  configure(config: Config): void;
}

export function createWebFetch(config: Config): WebFetch {
  let current = guardedFetch(config);
  return {
    fetch: (...asked) => current(...asked),
    configure(next) {
      current = guardedFetch(next);
    },
  };
}

function guardedFetch({ tools: { web } }: Config): GuardedFetch {
  const { allow, timeoutMs } = web;
  return createGuardedFetch({ allow, timeoutMs, maxBytes: MAX_BYTES });
}
