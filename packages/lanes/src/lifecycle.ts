import { type Clock, keepAliveClock } from "./clock.ts";

/** Stops one component. `remainingMs` returns the milliseconds until the deadline. */
type Stop = (remainingMs: () => number) => unknown;

/** Stops the components of a service in reverse order of their start, even if the start fails midway. */
export interface Lifecycle {
  /** Registers a component that has started. */
  started(name: string, stop: Stop): void;
  /** Stops all components within about `ms` milliseconds. Further calls return the same promise. */
  stop(ms: number): Promise<void>;
}

/** Additional time for a component to stop after the deadline, in milliseconds. */
const GRACE_MS = 20_000;

/** @param onFailure called for each component that threw while stopping or did not stop in time */
export function createLifecycle(
  onFailure: (name: string, error: unknown) => void,
  now: () => number = Date.now,
  clock: Clock = keepAliveClock,
): Lifecycle {
  const running: { readonly name: string; readonly stop: Stop }[] = [];
  let stopped: Promise<void> | undefined;

  const stopAll = async (ms: number): Promise<void> => {
    const deadline = now() + ms;
    const remainingMs = (): number => Math.max(0, deadline - now());
    for (let part = running.pop(); part !== undefined; part = running.pop()) {
      try {
        const stopping = Promise.resolve(part.stop(remainingMs)).then(() => "stopped");
        if ((await withTimeout(remainingMs() + GRACE_MS, stopping, clock)) === undefined)
          throw new Error("did not stop in time");
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

/** Waits for `work` for at most `ms` milliseconds, then resolves with `undefined`. */
export async function withTimeout<T>(
  ms: number,
  work: Promise<T>,
  clock: Clock = keepAliveClock,
): Promise<T | undefined> {
  const { promise: timeout, resolve } = Promise.withResolvers<undefined>();
  const timer = clock.after(ms, () => resolve(undefined));
  return Promise.race([work, timeout]).finally(() => timer.cancel());
}
