import { awaitedClock, type Clock } from "./clock.ts";

/** Stops one thing. `left` says how many milliseconds there are until everything is to be stopped. */
type Stop = (left: () => number) => unknown;

/** What has been started, to be stopped in the opposite order: also where the start itself fails half way. */
export interface Lifecycle {
  /** Something runs from now on, and is stopped so. */
  started(name: string, stop: Stop): void;
  /** Stops everything within about so many milliseconds, once; what cannot be stopped keeps nothing else up. */
  stop(ms: number): Promise<void>;
}

/** For so long behind the deadline one thing is waited for: it is to end in order, and not to hang. */
const LONGEST_MS = 20_000;

/** @param onFailure told what did not stop in order */
export function createLifecycle(
  onFailure: (name: string, error: unknown) => void,
  now: () => number = Date.now,
  clock: Clock = awaitedClock,
): Lifecycle {
  const running: { readonly name: string; readonly stop: Stop }[] = [];
  let stopped: Promise<void> | undefined;

  const stopAll = async (ms: number): Promise<void> => {
    const deadline = now() + ms;
    const left = (): number => Math.max(0, deadline - now());
    for (let part = running.pop(); part !== undefined; part = running.pop()) {
      try {
        const stopping = Promise.resolve(part.stop(left)).then(() => "stopped");
        if ((await atMost(left() + LONGEST_MS, stopping, clock)) === undefined)
          throw new Error("it has not stopped in time");
      } catch (error) {
        onFailure(part.name, error);
      }
    }
  };

  return {
    started: (name, stop) => void running.push({ name, stop }),
    stop(ms) {
      stopped ??= stopAll(ms);
      return stopped;
    },
  };
}

/** Waits for work, but not longer than so many milliseconds; then it gives `undefined`. */
export async function atMost<T>(
  ms: number,
  work: Promise<T>,
  clock: Clock = awaitedClock,
): Promise<T | undefined> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const timer = clock.after(ms, () => resolve(undefined));
  return Promise.race([work, over]).finally(() => timer.cancel());
}
