import type { TaintSource } from "@signalbox/tools";
import type { GatewayStore } from "./stored.ts";

/** What has tainted a conversation: untrusted content stays in its history, so later runs are tainted as well. */
export interface TaintMemory {
  /** Sources that tainted earlier runs. */
  earlier(): Promise<readonly TaintSource[]>;
  /** Remembers the sources of this run. */
  keep(sources: readonly TaintSource[]): Promise<void>;
}

const NAMESPACE = "taint";
const SOURCES: readonly TaintSource[] = ["web", "quote", "forward", "history", "file", "mcp", "log", "other"];

/** `conversation` names a session together with its generation: a new conversation starts without taint. */
export function createTaintMemory(store: GatewayStore, conversation: string): TaintMemory {
  let kept = new Set<TaintSource>();
  return {
    async earlier() {
      const found = await store.kv.get(NAMESPACE, conversation);
      kept = new Set(Array.isArray(found) ? SOURCES.filter((source) => found.includes(source)) : []);
      return [...kept];
    },
    async keep(sources) {
      if (sources.every((source) => kept.has(source))) return;
      kept = new Set([...kept, ...sources]);
      await store.kv.set(NAMESPACE, conversation, [...kept]);
    },
  };
}
