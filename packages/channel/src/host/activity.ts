import type { Clock, Health } from "../contract/definition.ts";
import { isChannelError } from "../contract/errors.ts";
import type { Draft } from "../contract/messages.ts";

/** Tracks an account's work at its platform, and its lasting trouble there. */
export interface Activity {
  /** Counts the work until it ends. Trouble of the whole account is kept until something succeeds. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Counts work that says nothing about the platform. */
  count<T>(work: Promise<T>): Promise<T>;
  note(trouble: string): void;
  /** The same draft with its calls tracked. */
  draft(draft: Draft): Draft;
  /** The health of a started account, by its connection, if it has one, and by its trouble. */
  health(state: "starting" | "ready" | "stopped", connection?: Health): Health;
  /** Resolves when no work is in progress, or after `ms`. */
  ended(ms: number): Promise<void>;
}

export function createActivity(clock: Clock): Activity {
  const running = new Set<Promise<unknown>>();
  let trouble: string | undefined;

  async function count<T>(work: Promise<T>): Promise<T> {
    running.add(work);
    try {
      return await work;
    } finally {
      running.delete(work);
    }
  }

  async function track<T>(work: Promise<T>): Promise<T> {
    try {
      const result = await count(work);
      trouble = undefined;
      return result;
    } catch (error) {
      if (isChannelError(error) && error.scope === "account") trouble = error.message;
      throw error;
    }
  }

  return {
    count,
    track,
    note(reason) {
      trouble = reason;
    },
    draft: (draft) => ({
      get messageId() {
        return draft.messageId;
      },
      update: (snapshot) => track(draft.update(snapshot)),
      finalize: (message, how) => track(draft.finalize(message, how)),
      abort: () => track(draft.abort()),
      ...(draft.prolong && { prolong: () => track(draft.prolong?.() ?? Promise.resolve()) }),
    }),
    health(state, connection) {
      if (state !== "ready") return { state };
      if (connection !== undefined && connection.state !== "ready") return connection;
      return trouble === undefined ? { state } : { state: "degraded", reason: trouble };
    },
    async ended(ms) {
      if (running.size === 0) return;
      const over = new AbortController();
      const late = clock.delay(ms, over.signal).catch(() => {});
      await Promise.race([Promise.allSettled(running), late]);
      over.abort();
    },
  };
}
