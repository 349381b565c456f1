import type { AgentMessage } from "@signalbox/agent-core";
import { LRUCache } from "lru-cache";
import type { ConversationStore } from "./store.ts";

/** The conversation that a run continues. */
export interface History {
  readonly messages: readonly AgentMessage[];
  /** Sequence number of each message in its session. */
  readonly seqs: readonly number[];
}

/**
 * A cache of recently used conversations. The next message does not have to read them again, and providers receive the
 * same message objects, so they can reuse data derived from them. An entry is used only if it is still current.
 */
export interface Histories {
  /** @param session the current state from the store, or `undefined` if there is no session yet */
  load(sessionKey: string, session: SessionState | undefined): Promise<History>;
  /** Caches a conversation after a run. */
  keep(sessionKey: string, generation: number, history: History): void;
  /** Removes a conversation. A run in progress does not add it to the cache again. */
  forget(sessionKey: string): void;
}

/** Identifies the state of a conversation. */
export interface SessionState {
  /** Number of resets of the conversation. */
  readonly generation: number;
  /** Sequence number of the newest message. 0 before the first message. */
  readonly lastSeq: number;
}

interface CachedHistory extends History {
  readonly generation: number;
}

/** Maximum size in characters, for all conversations and for one. */
const MAX_CHARS = 16_000_000;
const MAX_CHARS_PER_HISTORY = MAX_CHARS / 4;
/** Size of an object without its strings, in characters. */
const OBJECT_CHARS = 100;

export function createHistories(sessions: Pick<ConversationStore, "history">): Histories {
  const cache = new LRUCache<string, CachedHistory>({
    maxSize: MAX_CHARS,
    maxEntrySize: MAX_CHARS_PER_HISTORY,
    sizeCalculation: ({ messages }) => getSize(messages),
  });

  /** Conversations that have changed in the store since they were last loaded. */
  const changed = new Set<string>();

  return {
    forget(sessionKey) {
      cache.delete(sessionKey);
      changed.add(sessionKey);
    },
    async load(sessionKey, session) {
      changed.delete(sessionKey);
      const history = cache.get(sessionKey);
      const isCurrent =
        history?.generation === session?.generation && history?.seqs.at(-1) === session?.lastSeq;
      if (history !== undefined && isCurrent) return history;
      // If there is no session, a later session under this key will reuse the sequence numbers.
      cache.delete(sessionKey);
      if (session === undefined) return { messages: [], seqs: [] };
      const rows = await sessions.history(sessionKey);
      return { messages: rows.map((row) => row.message), seqs: rows.map((row) => row.seq) };
    },
    keep(sessionKey, generation, history) {
      cache.delete(sessionKey);
      if (!changed.delete(sessionKey) && history.messages.length === history.seqs.length)
        cache.set(sessionKey, { ...history, generation });
    },
  };
}

/** Returns the approximate size of a value in memory, in characters. */
function getSize(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((size, member) => size + getSize(member), OBJECT_CHARS);
}
