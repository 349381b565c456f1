import type { AgentMessage } from "@signalbox/agent-core";
import type { ConversationStore } from "./store.ts";

/** The conversation a run starts from. */
export interface History {
  readonly messages: readonly AgentMessage[];
  /** Place of each message in its session. */
  readonly places: readonly number[];
}

/**
 * Conversations that were just used, so that the next message need not read them again, and so that providers see the
 * very same message objects and can keep what they made of them. What is kept counts only while the store agrees.
 */
export interface Histories {
  /** @param session as the store has it by now; undefined where there is none yet */
  load(sessionKey: string, session: SessionState | undefined): Promise<History>;
  /** Keeps a conversation as it stands after a run; `newest` is the place of its last message. */
  keep(sessionKey: string, generation: number, history: History): void;
  forget(sessionKey: string): void;
}

/** What tells whether a conversation is still as it was. */
export interface SessionState {
  /** Counts its new beginnings. */
  readonly generation: number;
  /** The number of its newest message; 0 before the first. */
  readonly lastSeq: number;
}

interface Kept extends History {
  readonly generation: number;
  readonly size: number;
}

/** What is kept in all, and of one conversation, as `sizeOf` counts. */
const MOST = 16_000_000;
const MOST_OF_ONE = MOST / 4;

export function createHistories(sessions: Pick<ConversationStore, "history">): Histories {
  const kept = new Map<string, Kept>();
  let total = 0;

  const forget = (sessionKey: string): void => {
    total -= kept.get(sessionKey)?.size ?? 0;
    kept.delete(sessionKey);
  };
  return {
    forget,
    async load(sessionKey, session) {
      if (session === undefined) {
        // A later session of this key begins again at the same numbers.
        forget(sessionKey);
        return { messages: [], places: [] };
      }
      const history = kept.get(sessionKey);
      if (history?.generation === session.generation && history.places.at(-1) === session.lastSeq) {
        // The one longest unused goes first.
        kept.delete(sessionKey);
        kept.set(sessionKey, history);
        return history;
      }
      forget(sessionKey);
      const rows = await sessions.history(sessionKey);
      return { messages: rows.map((row) => row.message), places: rows.map((row) => row.seq) };
    },
    keep(sessionKey, generation, history) {
      forget(sessionKey);
      const size = history.messages.reduce((sum, message) => sum + sizeOf(message), 0);
      if (history.messages.length !== history.places.length || size > MOST_OF_ONE) return;
      kept.set(sessionKey, { ...history, generation, size });
      total += size;
      for (const oldest of kept.keys()) {
        if (total <= MOST) break;
        forget(oldest);
      }
    },
  };
}

/** An object is about as large as so many characters. */
const OBJECT = 100;
const sizes = new WeakMap<AgentMessage, number>();

/** About how many characters a message takes in memory, its pictures included. It is looked through once. */
function sizeOf(message: AgentMessage): number {
  const known = sizes.get(message);
  if (known !== undefined) return known;
  let size = 0;
  const left: unknown[] = [message];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === "string") size += value.length;
    if (typeof value !== "object" || value === null) continue;
    size += OBJECT;
    for (const part of Object.values(value)) left.push(part);
  }
  sizes.set(message, size);
  return size;
}
