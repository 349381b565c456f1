import type { Clock, Health } from "../contract/definition.ts";
import { isChannelError } from "../contract/errors.ts";
import type { Draft } from "../contract/messages.ts";

/** Tracks the operations of an account that are in progress, and an error that affects the whole account. */
export interface Activity {
  /**
   * Tracks an operation that sends a request to the platform. An error of the whole account is remembered until such an
   * operation succeeds.
   */
  track<T>(work: Promise<T>): Promise<T>;
  /** Tracks an operation that may succeed without a request to the platform. */
  count<T>(work: Promise<T>): Promise<T>;
  /** Remembers an error of the whole account. */
  note(problem: string): void;
  /** Wraps a draft so that its calls are tracked. */
  draft(draft: Draft): Draft;
  /** Returns the health of an account, based on its connection, if there is one, and the remembered error. */
  health(state: "starting" | "ready" | "stopped", connection?: Health): Health;
  /** Resolves when no operation is in progress, or after `ms` milliseconds. */
  ended(ms: number): Promise<void>;
}

export function createActivity(clock: Clock): Activity {
  const running = new Set<Promise<unknown>>();
  let problem: string | undefined;

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
      problem = undefined;
      return result;
    } catch (error) {
      if (isChannelError(error) && error.scope === "account") problem = error.message;
      throw error;
    }
  }

  return {
    count,
    track,
    note(reason) {
      problem = reason;
    },
    draft: (draft) => ({
      get messageId() {
        return draft.messageId;
      },
      update: (snapshot) => track(draft.update(snapshot)),
      finalize: (message, how) => track(draft.finalize(message, how)),
      abort: () => track(draft.abort()),
      prolong: draft.prolong ? () => track(draft.prolong?.() ?? Promise.resolve()) : undefined,
    }),
    health(state, connection) {
      if (state !== "ready") return { state };
      if (connection !== undefined && connection.state !== "ready") return connection;
      return problem === undefined ? { state } : { state: "degraded", reason: problem };
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
