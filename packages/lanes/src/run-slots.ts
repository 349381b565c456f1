/**
 * Maximum number of standby runs that do not take a slot, as a multiple of `maxRuns`. Each of them still takes memory.
 */
const STANDING_BY_FACTOR = 4;

/** Number of an owner's standby runs, as a multiple of `maxRuns`, at which no further run of that owner starts. */
const STANDING_BY_FACTOR_PER_OWNER = 2;

/**
 * Number of slots per slot that is reserved for privileged items. If there are two slots or more, at least one is
 * reserved.
 */
const SLOTS_PER_RESERVED_SLOT = 16;

/** A request to start a run. */
export interface SlotRequest {
  readonly owner: string;
  /** True if the run may take a reserved slot, and as many slots as are free. */
  readonly isPrivileged: boolean;
}

/** A run that occupies a slot. */
export interface SlotHolder {
  readonly owner: string;
  /** True while the run only waits for a person or for its next attempt. */
  standingBy: boolean;
}

/** Limits the concurrent runs over all keys. */
export class RunSlots {
  readonly #maxRuns: () => number;
  #running = 0;
  #standingBy = 0;
  /** Number of runs by owner, including standby runs. Owners without runs are removed. */
  readonly #runsByOwner = new Map<string, number>();
  /** Number of standby runs by owner. Owners without standby runs are removed. */
  readonly #standingByOwner = new Map<string, number>();

  constructor(maxRuns: () => number) {
    this.#maxRuns = maxRuns;
  }

  get running(): number {
    return this.#running;
  }

  /** True if another run may start. When standby runs continue, more than `maxRuns` may be running for a while. */
  get hasFree(): boolean {
    return this.#free > 0;
  }

  /** True if a slot is free that is not reserved for privileged items. */
  get hasUnreserved(): boolean {
    return this.#freeUnreserved > 0;
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
   * Returns true if another run may start. Without privilege, an owner may have fewer runs than there are free
   * unreserved slots. As a result, one owner gets at most half of the slots, two get a third each, and one slot always
   * remains free.
   */
  mayStart({ owner, isPrivileged }: SlotRequest): boolean {
    const standingBy = this.#standingByOwner.get(owner) ?? 0;
    if (standingBy >= STANDING_BY_FACTOR_PER_OWNER * this.#maxRuns()) return false;
    if (isPrivileged) return this.hasFree;
    return (this.#runsByOwner.get(owner) ?? 0) - standingBy < this.#freeUnreserved;
  }

  get #freeUnreserved(): number {
    const max = this.#maxRuns();
    const reserved = Math.min(max - 1, Math.max(1, Math.floor(max / SLOTS_PER_RESERVED_SLOT)));
    return this.#free - reserved;
  }
}

/** Adds to a count, and removes the count when it reaches zero. */
function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
