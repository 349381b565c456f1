import type { JsonValue } from "@signalbox/store";
import type { TaintSource } from "@signalbox/tools";
import type { GatewayStore } from "../../store.ts";

/** What the history of a conversation holds besides the words of its owners. */
interface ConversationTaint {
  /** What tainted earlier runs: untrusted content stays in the history, so later runs are tainted as well. */
  readonly sources: readonly TaintSource[];
  /** Who else than owners has spoken in it. */
  readonly speakers: readonly string[];
}

export interface TaintMemory {
  earlier(): Promise<ConversationTaint>;
  /** Remembers what this run has seen, and who spoke in it. */
  keep(seen: ConversationTaint): Promise<void>;
}

const SOURCES: readonly TaintSource[] = [
  ...(["web", "quote", "forward", "history", "memory", "file", "mcp", "log", "person", "other"] as const),
];

/**
 * A new generation starts without taint. It is kept with the session, as all its host keeps there: it lasts as long as
 * the history does, and goes with it.
 */
export function createTaintMemory(
  store: Pick<GatewayStore, "sessions">,
  { sessionKey, generation }: { readonly sessionKey: string; readonly generation: number },
): TaintMemory {
  let kept: ConversationTaint = { sources: [], speakers: [] };
  return {
    async earlier() {
      const session = await store.sessions.get(sessionKey);
      kept = taintIn(session?.data, generation);
      return kept;
    },
    async keep(seen) {
      const sources = [...new Set([...kept.sources, ...seen.sources])];
      const speakers = [...new Set([...kept.speakers, ...seen.speakers])];
      if (sources.length === kept.sources.length && speakers.length === kept.speakers.length) return;
      kept = { sources, speakers };
      await store.sessions.patch(sessionKey, { data: { taint: { generation, sources, speakers } } });
    },
  };
}

function taintIn(data: JsonValue | undefined, generation: number): ConversationTaint {
  const { taint } = recordOf(data);
  const { generation: of, sources, speakers } = recordOf(taint);
  if (of !== generation) return { sources: [], speakers: [] };
  return {
    sources: Array.isArray(sources) ? SOURCES.filter((source) => sources.includes(source)) : [],
    speakers: Array.isArray(speakers) ? speakers.filter((speaker) => typeof speaker === "string") : [],
  };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
