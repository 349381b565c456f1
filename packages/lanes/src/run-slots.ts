/** Runs that stand by do not take a slot, up to this multiple of `maxRuns`, because each still takes memory. */
const STANDING_BY_FACTOR = 4;

/** While an owner has this multiple of `maxRuns` standing by, no further run of that owner starts. */
const STANDING_BY_FACTOR_PER_OWNER = 2;

/** A run that takes a slot. */
export interface SlotHolder {
  readonly owner: string;
  /** True while it only waits, for a person or for its next attempt. */
  standingBy: boolean;
}

/** Limits the concurrent runs over all keys. */
export class RunSlots {
  readonly #maxRuns: () => number;
  #running = 0;
  #standingBy = 0;
  /** Runs that stand by, by owner. Owners without any are removed. */
  readonly #standingByOwner = new Map<string, number>();

  constructor(maxRuns: () => number) {
    this.#maxRuns = maxRuns;
  }

  get running(): number {
    return this.#running;
  }

  /** True if another run may start. More than `maxRuns` run for a while if runs that stood by continue. */
  get hasFree(): boolean {
    const standingBy = Math.min(this.#standingBy, STANDING_BY_FACTOR * this.#maxRuns());
    return this.#running - standingBy < this.#maxRuns();
  }

  enter(): void {
    this.#running++;
  }

  leave(run: SlotHolder): void {
    this.standBy(run, false);
    this.#running--;
  }

  standBy(run: SlotHolder, on: boolean): void {
    if (run.standingBy === on) return;
    run.standingBy = on;
    const change = on ? 1 : -1;
    this.#standingBy += change;
    const own = (this.#standingByOwner.get(run.owner) ?? 0) + change;
    if (own === 0) this.#standingByOwner.delete(run.owner);
    else this.#standingByOwner.set(run.owner, own);
  }

  /** Returns true if an owner may start another run, given how many of theirs stand by. */
  mayStart(owner: string): boolean {
    return (this.#standingByOwner.get(owner) ?? 0) < STANDING_BY_FACTOR_PER_OWNER * this.#maxRuns();
  }
}
