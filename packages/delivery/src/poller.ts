import type { Clock } from "@signalbox/channel";

const MAX_SLEEP_MS = 60_000;

/** The result of one pass over due rows. */
export interface Pass {
  /** True if more is already due. */
  readonly again: boolean;
  /** The time at which the next row is due, in milliseconds since the epoch. Absent if none is waiting. */
  readonly nextAt?: number;
}

/**
 * Runs passes over due rows, one at a time: on request, when a row becomes due, and at least once a minute while rows
 * are waiting.
 */
export class Poller {
  readonly #pass: () => Promise<Pass>;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  #running = false;
  /** The current pass, or the last one. */
  #last: Promise<void> = Promise.resolve();
  #requested = false;
  #sleep: { readonly until: number; readonly end: AbortController } | undefined;

  /** @param pass must not reject */
  constructor(pass: () => Promise<Pass>, clock: Clock) {
    this.#pass = pass;
    this.#clock = clock;
  }

  /** Runs a pass now, or right after the current one. */
  poll(): void {
    if (this.#stop.signal.aborted) return;
    if (this.#running) this.#requested = true;
    else this.#last = this.#run();
  }

  /** Runs a pass at `at` unless one is scheduled earlier. */
  pollAt(at: number | undefined): void {
    if (at === undefined || this.#stop.signal.aborted) return;
    if (this.#sleep !== undefined && this.#sleep.until <= at) return;
    this.#sleep?.end.abort();
    const end = new AbortController();
    this.#sleep = { until: at, end };
    const ms = Math.max(0, Math.min(at - this.#clock.now(), MAX_SLEEP_MS));
    this.#clock.delay(ms, AbortSignal.any([end.signal, this.#stop.signal])).then(
      () => {
        this.#sleep = undefined;
        this.poll();
      },
      () => {},
    );
  }

  /** Ignores further requests. Resolves once the passes that were already requested have ended. */
  stop(): Promise<void> {
    this.#stop.abort();
    return this.#last;
  }

  async #run(): Promise<void> {
    this.#running = true;
    do {
      this.#requested = false;
      const { again, nextAt } = await this.#pass();
      this.pollAt(nextAt);
      this.#requested ||= again;
    } while (this.#requested);
    this.#running = false;
  }
}
