/** Runs that stand by do not take a slot, up to this multiple of `maxRuns`, because each still takes memory. */
const STANDING_BY_FACTOR = 4;

/** While an owner has this multiple of `maxRuns` standing by, no further run of that owner starts. */
const STANDING_BY_FACTOR_PER_OWNER = 2;

/** Of this many slots, one is reserved for privileged items. Of two slots or more, at least one is. */
const SLOTS_PER_RESERVED_SLOT = 16;

/** Who wants to start a run. */
export interface SlotRequest {
  readonly owner: string;
  /** True if the run may take a reserved slot, and as many slots as are free. */
  readonly isPrivileged: boolean;
}

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
  /** Runs by owner, including those that stand by. Owners without any are removed. */
  readonly #runsByOwner = new Map<string, number>();
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
    return this.#free > 0;
  }

  get #free(): number {
    const standingBy = Math.min(this.#standingBy, STANDING_BY_FACTOR * this.#maxRuns());
    return this.#maxRuns() - (this.#running - standingBy);
  }

  enter({ owner }: SlotHolder): void {
    this.#running++;
    add(this.#runsByOwner, owner, 1);
  }

  leave(run: SlotHolder): void {
    this.standBy(run, false);
    this.#running--;
    add(this.#runsByOwner, run.owner, -1);
  }

  standBy(run: SlotHolder, on: boolean): void {
    if (run.standingBy === on) return;
    run.standingBy = on;
    const change = on ? 1 : -1;
    this.#standingBy += change;
    add(this.#standingByOwner, run.owner, change);
  }

  /**
   * Returns true if another run may start. Without a privilege, an owner may have fewer runs than there are free slots
   * that are not reserved. So one owner gets at most half of them, two get a third each, and there is always one left.
   */
  mayStart({ owner, isPrivileged }: SlotRequest): boolean {
    const max = this.#maxRuns();
    const standingBy = this.#standingByOwner.get(owner) ?? 0;
    if (standingBy >= STANDING_BY_FACTOR_PER_OWNER * max) return false;
    if (isPrivileged) return this.hasFree;
    const reserved = Math.min(max - 1, Math.max(1, Math.floor(max / SLOTS_PER_RESERVED_SLOT)));
    return (this.#runsByOwner.get(owner) ?? 0) - standingBy < this.#free - reserved;
  }
}

/** Adds to a count, and removes it when it becomes zero. */
function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
