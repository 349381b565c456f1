import { setTimeout as delay } from "node:timers/promises";
import type { ChannelCache, Clock } from "./channel.ts";
import type { Json } from "./json.ts";

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  delay: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
};

/** A cache in memory: `max` entries (default 5,000), the one longest unused going first. */
export function createMemoryCache(options: { readonly clock: Clock; readonly max?: number }): ChannelCache {
  const { clock, max = 5000 } = options;
  const entries = new Map<string, { readonly value: Json; readonly until: number }>();
  return {
    async get(key) {
      const found = entries.get(key);
      if (found === undefined) return undefined;
      entries.delete(key);
      if (found.until <= clock.now()) return undefined;
      entries.set(key, found);
      return found.value;
    },
    async set(key, value, ttlMs) {
      entries.delete(key);
      entries.set(key, { value, until: clock.now() + ttlMs });
      const oldest = entries.size > max ? entries.keys().next().value : undefined;
      if (oldest !== undefined) entries.delete(oldest);
    },
  };
}
