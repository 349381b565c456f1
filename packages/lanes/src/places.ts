/**
 * So many times the runs that may go on may stand by beside them. A run that stands by still takes memory: beyond that,
 * each holds a place, too.
 */
const STANDING_BY_TIMES = 4;

/** So many times the runs that may go on one owner may leave standing by before others of theirs start. */
const STANDING_BY_TIMES_EACH = 2;

/** A run, as far as it takes up room. */
export interface Occupant {
  readonly owner: string;
  /** It does nothing but wait, for a person or for a next attempt. */
  standingBy: boolean;
}

/** How many runs may go on at the same time, over all keys. */
export class Places {
  readonly #maxRuns: () => number;
  #running = 0;
  #standingBy = 0;
  /** By owner; nothing is kept of those who have none. */
  readonly #standingByOf = new Map<string, number>();

  constructor(maxRuns: () => number) {
    this.#maxRuns = maxRuns;
  }

  get running(): number {
    return this.#running;
  }

  /** More may be taken than there are, for a while, where runs that stood by go on. */
  get free(): boolean {
    const beside = Math.min(this.#standingBy, STANDING_BY_TIMES * this.#maxRuns());
    return this.#running - beside < this.#maxRuns();
  }

  enter(): void {
    this.#running++;
  }

  leave(run: Occupant): void {
    this.standBy(run, false);
    this.#running--;
  }

  standBy(run: Occupant, on: boolean): void {
    if (run.standingBy === on) return;
    run.standingBy = on;
    const change = on ? 1 : -1;
    this.#standingBy += change;
    const own = (this.#standingByOf.get(run.owner) ?? 0) + change;
    if (own === 0) this.#standingByOf.delete(run.owner);
    else this.#standingByOf.set(run.owner, own);
  }

  /** Whether a run of this owner may start while others of theirs stand by. */
  mayStart(owner: string): boolean {
    return (this.#standingByOf.get(owner) ?? 0) < STANDING_BY_TIMES_EACH * this.#maxRuns();
  }
}
