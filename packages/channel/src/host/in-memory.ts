import type { ChannelCache, ChannelState, Clock } from "../contract/definition.ts";
import type { Json } from "../contract/json.ts";

/**
 * Creates a cache in memory that evicts the least recently used entry. `max` is the maximum number of entries, by
 * default 5,000.
 */
export function createInMemoryCache(options: { readonly clock: Clock; readonly max?: number }): ChannelCache {
  const { clock, max = 5000 } = options;
  const entries = new Map<string, { readonly value: Json; readonly until: number }>();
  return {
    async get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      if (entry.until <= clock.now()) return undefined;
      entries.set(key, entry);
      return entry.value;
    },
    async set(key, value, ttlMs) {
      entries.delete(key);
      entries.set(key, { value, until: clock.now() + ttlMs });
      const oldest = entries.size > max ? entries.keys().next().value : undefined;
      if (oldest !== undefined) entries.delete(oldest);
    },
  };
}

/** Creates state in memory, for tests and for programs that need no state after a restart. */
export function createInMemoryState(): ChannelState {
  const values = new Map<string, Json>();
  return {
    get: async (key) => values.get(key),
    set: async (key, value) => void values.set(key, value),
    delete: async (key) => void values.delete(key),
  };
}
