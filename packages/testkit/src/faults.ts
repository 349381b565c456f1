/** Selects the requests that fail. */
export interface FaultTarget {
  readonly method?: string;
  /** Part of the path. Default: only messages, so that everything else still works. */
  readonly path?: string;
  /** Number of requests. Default: 1. */
  readonly times?: number;
}

/** Returns the scripted faults of a fake server, each for its number of requests. */
export class Faults<Fault extends FaultTarget> {
  readonly #usualPath: string;
  readonly #waiting: { fault: Fault; left: number }[] = [];

  constructor(usualPath: string) {
    this.#usualPath = usualPath;
  }

  add(fault: Fault): void {
    this.#waiting.push({ fault, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#waiting.length = 0;
  }

  take(method: string, path: string): Fault | undefined {
    const index = this.#waiting.findIndex(
      ({ fault }) =>
        (fault.method === undefined || fault.method === method) &&
        path.includes(fault.path ?? this.#usualPath),
    );
    const entry = this.#waiting[index];
    if (entry === undefined) return undefined;
    entry.left -= 1;
    if (entry.left <= 0) this.#waiting.splice(index, 1);
    return entry.fault;
  }
}
