import { type Clock, sleep, systemClock } from "./clock.ts";

/** Runs work that is suspected of ending the process, one piece after the other. */
export interface Quarantine {
  /** Does `work` when it is its turn; not at all, with `undefined`, where `signal` is aborted before. */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined>;
}

export interface QuarantineOptions {
  /** Work that takes longer has the next beside it, in milliseconds. */
  readonly aloneMs: number;
  readonly clock?: Clock;
}

/**
 * Every piece of work that was under way when a process died counts that death, though only one may have caused it.
 * The suspects go on one at a time: the next death then tells which it was, and the others are not set aside with it.
 */
export function createQuarantine({ aloneMs, clock = systemClock }: QuarantineOptions): Quarantine {
  let last: Promise<unknown> = Promise.resolve();
  return {
    async run(signal, work) {
      const before = last;
      const ended = new AbortController();
      last = before.then(() => sleep(clock, aloneMs, ended.signal));
      try {
        await untilAborted(before, signal);
        return signal.aborted ? undefined : await work();
      } finally {
        ended.abort();
      }
    },
  };
}

function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve();
  const aborted = Promise.withResolvers<void>();
  const onAbort = (): void => aborted.resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  return Promise.race([work, aborted.promise]).finally(() => signal.removeEventListener("abort", onAbort));
}
