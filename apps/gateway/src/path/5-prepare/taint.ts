import type { JsonValue } from "@signalbox/store";
import type { TaintSource } from "@signalbox/tools";
import type { GatewayStore } from "../../store.ts";

/** What has tainted a conversation: untrusted content stays in its history, so later runs are tainted as well. */
export interface TaintMemory {
  /** Sources that tainted earlier runs. */
  earlier(): Promise<readonly TaintSource[]>;
  /** Remembers the sources of this run. */
  keep(sources: readonly TaintSource[]): Promise<void>;
}

const SOURCES: readonly TaintSource[] = ["web", "quote", "forward", "history", "file", "mcp", "log", "other"];

/**
 * A new generation starts without taint. It is kept with the session, as all its host keeps there: it lasts as long as
 * the history does, and goes with it.
 */
export function createTaintMemory(
  store: Pick<GatewayStore, "sessions">,
  { sessionKey, generation }: { readonly sessionKey: string; readonly generation: number },
): TaintMemory {
  let kept = new Set<TaintSource>();
  const write = (sources: ReadonlySet<TaintSource>) =>
    store.sessions.patch(sessionKey, { data: { taint: { generation, sources: [...sources] } } });
  return {
    async earlier() {
      const session = await store.sessions.get(sessionKey);
      kept = sourcesIn(taintIn(session?.data, generation));
      return [...kept];
    },
    async keep(sources) {
      const all = new Set([...kept, ...sources]);
      if (all.size === kept.size) return;
      kept = all;
      await write(kept);
    },
  };
}

function taintIn(data: JsonValue | undefined, generation: number): unknown {
  const { taint } = recordOf(data);
  const { generation: of, sources } = recordOf(taint);
  return of === generation ? sources : undefined;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function sourcesIn(found: unknown): Set<TaintSource> {
  return new Set(Array.isArray(found) ? SOURCES.filter((source) => found.includes(source)) : []);
}
