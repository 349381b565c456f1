import { type Backoff, exponentialBackoff } from "@signalbox/lanes";

/**
 * The wait before a reply is tried again: doubling from one second to five minutes, half of it by chance.
 * @param random gives numbers in [0, 1)
 */
export function replyBackoff(random: () => number): Backoff {
  return exponentialBackoff({ firstMs: 1_000, maxMs: 5 * 60_000, random });
}

/** The failures of each row. A process that ended says nothing about a platform, so claims do not count. */
export class Failures {
  readonly #backoff: Backoff;
  readonly #counts = new Map<string, number>();
  readonly #reasons = new Map<string, string>();

  constructor(backoff: Backoff) {
    this.#backoff = backoff;
  }

  /** Counts a failure of the row; gives the milliseconds to wait before its next attempt. */
  add(id: string): number {
    const count = (this.#counts.get(id) ?? 0) + 1;
    this.#counts.set(id, count);
    return this.#backoff(count);
  }

  /** Whether the row failed for another reason the last time, or has not failed before. */
  isNews(id: string, reason: string): boolean {
    const last = this.#reasons.get(id);
    this.#reasons.set(id, reason);
    return reason !== last;
  }

  /** The row has its end. */
  forget(id: string): void {
    this.#counts.delete(id);
    this.#reasons.delete(id);
  }
}
