import { type Backoff, exponentialBackoff } from "@signalbox/lanes";

/**
 * Returns the delay before the next attempt at a reply: doubling from one second to five minutes, half of it random.
 *
 * @param random returns numbers in [0, 1)
 */
export function createReplyBackoff(random: () => number): Backoff {
  return exponentialBackoff({ firstMs: 1_000, maxMs: 5 * 60_000, random });
}

/**
 * Counts the failures of each row in this process. The store's `attempts` cannot be used, because they also count
 * claims that ended with their process.
 */
export class Failures {
  readonly #backoff: Backoff;
  readonly #counts = new Map<string, number>();
  readonly #reasons = new Map<string, string>();

  constructor(backoff: Backoff) {
    this.#backoff = backoff;
  }

  /** Counts a failure and returns the delay before the next attempt, in milliseconds. */
  add(id: string): number {
    const count = (this.#counts.get(id) ?? 0) + 1;
    this.#counts.set(id, count);
    return this.#backoff(count);
  }

  /** Records the reason of a failure and returns true if it differs from the previous one. */
  isNewReason(id: string, reason: string): boolean {
    const last = this.#reasons.get(id);
    this.#reasons.set(id, reason);
    return reason !== last;
  }

  /** Removes a row that has ended. */
  delete(id: string): void {
    this.#counts.delete(id);
    this.#reasons.delete(id);
  }
}
