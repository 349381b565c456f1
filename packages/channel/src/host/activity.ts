import type { Clock } from "../contract/definition.ts";
import { isChannelError } from "../contract/errors.ts";

/** What an account is doing at its platform, and what lasting trouble it met there. */
export interface Activity {
  /** Counts the work until it ends. Trouble of the whole account is kept until something succeeds. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Counts work that says nothing about the platform. */
  count<T>(work: Promise<T>): Promise<T>;
  note(trouble: string): void;
  /** For `health`. */
  readonly trouble: string | undefined;
  /** Resolves when nothing is under way, or after `ms`. */
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

  return {
    count,
    async track(work) {
      try {
        const result = await count(work);
        trouble = undefined;
        return result;
      } catch (error) {
        if (isChannelError(error) && error.scope === "account") trouble = error.message;
        throw error;
      }
    },
    note(reason) {
      trouble = reason;
    },
    get trouble() {
      return trouble;
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
