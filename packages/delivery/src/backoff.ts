const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;

/** Milliseconds before attempt `attempts + 1`: doubling from one second to five minutes, half of it by chance. */
export function backoffMs(attempts: number, random: () => number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, attempts - 1));
  return Math.round(full / 2 + (full / 2) * random());
}

/** The failures of each row. A process that ended says nothing about a platform, so claims do not count. */
export class Failures {
  readonly #random: () => number;
  readonly #counts = new Map<string, number>();
  readonly #reasons = new Map<string, string>();

  /** @param random gives numbers in [0, 1) */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Counts a failure of the row; gives the milliseconds to wait before its next attempt. */
  add(id: string): number {
    const count = (this.#counts.get(id) ?? 0) + 1;
    this.#counts.set(id, count);
    return backoffMs(count, this.#random);
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
