import { awaitedClock, type Clock } from "./clock.ts";

/** Stops one thing. `left` says how many milliseconds there are until everything is to be stopped. */
type Stop = (left: () => number) => unknown;

/** What has been started, to be stopped in the opposite order: also where the start itself fails half way. */
export interface Lifecycle {
  /** Something runs from now on, and is stopped so. */
  started(name: string, stop: Stop): void;
  /** Stops everything within so many milliseconds, once; what cannot be stopped keeps nothing else up. */
  stop(ms: number): Promise<void>;
}

/** @param onFailure told what did not stop in order */
export function createLifecycle(
  onFailure: (name: string, error: unknown) => void,
  now: () => number = Date.now,
): Lifecycle {
  const running: { readonly name: string; readonly stop: Stop }[] = [];
  let stopped: Promise<void> | undefined;

  const stopAll = async (ms: number): Promise<void> => {
    const deadline = now() + ms;
    const left = (): number => Math.max(0, deadline - now());
    for (let part = running.pop(); part !== undefined; part = running.pop()) {
      try {
        await part.stop(left);
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

/** Waits for work, but not longer than so many milliseconds. */
export async function atMost(ms: number, work: Promise<unknown>, clock: Clock = awaitedClock): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = clock.after(ms, resolve);
  await Promise.race([work, over]).finally(() => timer.cancel());
}
