import type { Clock } from "@signalbox/channel";

const LONGEST_SLEEP_MS = 60_000;

/** What a pass over due work leaves. */
export interface Pass {
  /** More is due already. */
  readonly again: boolean;
  /** When the next work is due, in milliseconds since the epoch; absent when none waits. */
  readonly nextAt?: number | undefined;
}

/**
 * Runs passes over due work, one at a time: when it is called, when work falls due, and at least once a minute while
 * any waits.
 */
export class WakeUp {
  readonly #pass: () => Promise<Pass>;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  #running = false;
  /** The pass that is running, or the last one. */
  #last: Promise<void> = Promise.resolve();
  #calledMeanwhile = false;
  #sleep: { readonly until: number; readonly end: AbortController } | undefined;

  /** @param pass must not reject */
  constructor(pass: () => Promise<Pass>, clock: Clock) {
    this.#pass = pass;
    this.#clock = clock;
  }

  /** Has a pass run now, or right behind the one that is running. */
  call(): void {
    if (this.#stop.signal.aborted) return;
    if (this.#running) this.#calledMeanwhile = true;
    else this.#last = this.#run();
  }

  /** Has a pass run at `at`, or earlier where that was asked for already. */
  callAt(at: number | undefined): void {
    if (at === undefined || this.#stop.signal.aborted) return;
    if (this.#sleep !== undefined && this.#sleep.until <= at) return;
    this.#sleep?.end.abort();
    const end = new AbortController();
    this.#sleep = { until: at, end };
    const ms = Math.max(0, Math.min(at - this.#clock.now(), LONGEST_SLEEP_MS));
    this.#clock.delay(ms, AbortSignal.any([end.signal, this.#stop.signal])).then(
      () => {
        this.#sleep = undefined;
        this.call();
      },
      () => {},
    );
  }

  /** No pass is asked for any more; resolves when those that were have ended. */
  stop(): Promise<void> {
    this.#stop.abort();
    return this.#last;
  }

  async #run(): Promise<void> {
    this.#running = true;
    do {
      this.#calledMeanwhile = false;
      const { again, nextAt } = await this.#pass();
      this.callAt(nextAt);
      this.#calledMeanwhile ||= again;
    } while (this.#calledMeanwhile);
    this.#running = false;
  }
}
