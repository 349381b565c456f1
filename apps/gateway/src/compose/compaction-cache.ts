import type { CompactionCache } from "@signalbox/agent-core";
import type { GatewayStore } from "../store.ts";

const KEPT_MS = 24 * 60 * 60 * 1000;

/** Summaries of chunks, so that an interrupted compaction goes on where it was. */
export function createCompactionCache({ kv }: Pick<GatewayStore, "kv">): CompactionCache {
  return {
    async get(key) {
      const kept = await kv.get("compaction", key);
      return typeof kept === "string" ? kept : undefined;
    },
    set: (key, summary) => kv.set("compaction", key, summary, KEPT_MS),
  };
}
