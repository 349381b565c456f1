import type { Clock } from "@signalbox/channel";

/** Requests are aborted this long before the lease ends, in milliseconds, so that they end before it. */
const MARGIN_MS = 500;

/** Returns the remaining duration of the lease in milliseconds. */
export type GetLeaseMs = () => number;

/** Returns true if enough of the lease is left to begin a request. */
export function isLeaseHeld(getLeaseMs: GetLeaseMs | undefined): boolean {
  return getLeaseMs === undefined || getLeaseMs() > MARGIN_MS;
}

/** The limit of one attempt. */
interface LeaseLimit {
  /** Aborts shortly before the lease ends and when sending stops. Stays aborted if the lease is renewed later. */
  readonly signal: AbortSignal;
  /** Clears the timer. */
  end(): void;
}

/**
 * Limits an attempt to the lease, because another process may send the row after the end of the lease.
 *
 * @param getLeaseMs `undefined` if no other process can take the lease
 * @param stop aborts the attempt
 */
export function limitToLease(
  getLeaseMs: GetLeaseMs | undefined,
  stop: AbortSignal,
  clock: Clock,
): LeaseLimit {
  if (getLeaseMs === undefined) return { signal: stop, end() {} };
  const controller = new AbortController();
  const ended = new AbortController();
  const onStop = (): void => controller.abort(stop.reason);
  const watch = async (): Promise<void> => {
    while (isLeaseHeld(getLeaseMs)) await clock.delay(getLeaseMs() - MARGIN_MS, ended.signal);
    controller.abort(new Error("the lease of this gateway is about to expire"));
  };
  if (stop.aborted) onStop();
  else {
    stop.addEventListener("abort", onStop, { once: true });
    // Rejects when the attempt has ended.
    watch().catch(() => {});
  }
  return {
    signal: controller.signal,
    end() {
      stop.removeEventListener("abort", onStop);
      ended.abort();
    },
  };
}
