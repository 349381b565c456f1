import type { CompactionCache } from "@signalbox/agent-core";

/** Storage for the summaries of an interrupted compaction. */
interface SummaryStore {
  get(namespace: string, key: string): Promise<unknown>;
  set(namespace: string, key: string, value: string, ttlMs: number): Promise<void>;
}

const TTL_MS = 24 * 60 * 60 * 1000;

/** Creates a cache of chunk summaries, so that an interrupted compaction continues where it stopped. */
export function createCompactionCache(store: SummaryStore): CompactionCache {
  return {
    async get(key) {
      const summary = await store.get("compaction", key);
      return typeof summary === "string" ? summary : undefined;
    },
    set: (key, summary) => store.set("compaction", key, summary, TTL_MS),
  };
}
