import { timerMs } from "./system-clock.ts";

/** A signal that fires with any of its parents or after a time limit. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Restarts the time limit, for operations with several steps that each have this limit. */
  restart(): void;
  /** Suspends the time limit until `restart`. The parents still fire the signal. */
  pause(): void;
  /** Releases the timer and the listeners. Call it when the operation is done. */
  end(): void;
}

/**
 * Like `AbortSignal.any([...parents, AbortSignal.timeout(ms)])`, but releases its timer when the operation ends early.
 * `AbortSignal.timeout` keeps the timer, and everything that it references, until the time is up.
 *
 * @param ms the time limit in milliseconds
 */
export function deadline(ms: number, ...parents: readonly (AbortSignal | undefined)[]): Deadline {
  const controller = new AbortController();
  const listeners: [AbortSignal, () => void][] = [];
  let timer: NodeJS.Timeout | undefined;

  function pause(): void {
    clearTimeout(timer);
  }

  function restart(): void {
    pause();
    timer = setTimeout(() => {
      end();
      controller.abort(new DOMException(`The work took longer than ${ms} ms`, "TimeoutError"));
    }, timerMs(ms));
    timer.unref();
  }

  function end(): void {
    pause();
    for (const [parent, listener] of listeners.splice(0)) parent.removeEventListener("abort", listener);
  }

  restart();
  for (const parent of parents) {
    if (parent === undefined) continue;
    const listener = (): void => {
      end();
      controller.abort(parent.reason);
    };
    if (parent.aborted) {
      listener();
      break;
    }
    parent.addEventListener("abort", listener);
    listeners.push([parent, listener]);
  }
  return { signal: controller.signal, restart, pause, end };
}
