import type { Config } from "@signalbox/config";
import { createGuardedFetch, type GuardedFetch } from "@signalbox/tools";

/** The largest attachment that any channel takes is far below. */
const MOST_BYTES = 200_000_000;

/** The one way from the gateway to addresses that people or models name. */
export function createWebFetch({ tools: { web } }: Config): GuardedFetch {
  const { allow, timeoutMs } = web;
  return createGuardedFetch({ allow, timeoutMs, maxBytes: MOST_BYTES });
}
