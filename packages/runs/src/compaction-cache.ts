import type { CompactionCache } from "@signalbox/agent-core";

/** Where summaries are kept, each for so many milliseconds. */
export interface SummaryNotes {
  get(namespace: string, key: string): Promise<unknown>;
  set(namespace: string, key: string, value: string, ttlMs: number): Promise<void>;
}

const KEPT_MS = 24 * 60 * 60 * 1000;

/** Summaries of chunks, so that an interrupted compaction continues where it stopped. */
export function createCompactionCache(notes: SummaryNotes): CompactionCache {
  return {
    async get(key) {
      const kept = await notes.get("compaction", key);
      return typeof kept === "string" ? kept : undefined;
    },
    set: (key, summary) => notes.set("compaction", key, summary, KEPT_MS),
  };
}
