/** A simulated outage. The next frames with a matching command fail. */
export interface WecomFault {
  /**
   * - `rate`: refuses the frame because of its rate.
   * - `busy`: responds with "system error" without an effect.
   * - `hang`: carries out the frame and never acknowledges it.
   * - `cut`: carries out the frame and breaks the connection.
   */
  readonly kind: "rate" | "busy" | "hang" | "cut";
  /** Part of the command. Default: `_msg`, which all commands that send messages contain. */
  readonly command?: string;
  /** Number of frames. Default: 1. */
  readonly times?: number;
}

/** Returns the scripted faults, each for its number of frames. */
export class Faults {
  readonly #waiting: { fault: WecomFault; left: number }[] = [];

  add(fault: WecomFault): void {
    this.#waiting.push({ fault, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#waiting.length = 0;
  }

  take(command: string): WecomFault | undefined {
    const index = this.#waiting.findIndex(({ fault }) => command.includes(fault.command ?? "_msg"));
    const next = this.#waiting[index];
    if (next === undefined) return undefined;
    next.left -= 1;
    if (next.left <= 0) this.#waiting.splice(index, 1);
    return next.fault;
  }
}
