const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;

/** Milliseconds before attempt `attempts + 1`: doubling from one second to five minutes, half of it by chance. */
export function backoffMs(attempts: number, random: () => number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, attempts - 1));
  return Math.round(full / 2 + (full / 2) * random());
}

/** Counts failures by row. A process that ended says nothing about a platform, so claims do not count. */
export class FailureCounts {
  readonly #random: () => number;
  readonly #failures = new Map<string, number>();

  /** @param random gives numbers in [0, 1) */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Counts a failure of the row; gives the milliseconds to wait before its next attempt. */
  add(id: string): number {
    const count = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, count);
    return backoffMs(count, this.#random);
  }

  /** The row has its end. */
  forget(id: string): void {
    this.#failures.delete(id);
  }
}
