import { timerMs } from "./system-clock.ts";

/** A signal that fires with any of its parents or when its time is up. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** The time begins anew: for work that comes in pieces, each of which may take so long. */
  restart(): void;
  /** No time runs until `restart`; the parents are listened to all the same. */
  pause(): void;
  /** To be called when the work is done: lets go of the timer and of the parents. */
  end(): void;
}

/**
 * As `AbortSignal.any([...parents, AbortSignal.timeout(ms)])`, for work of which there is much: those two keep a timer
 * and what hangs on it until the time is up, however early the work ends.
 *
 * @param ms milliseconds
 */
export function deadline(ms: number, ...parents: readonly (AbortSignal | undefined)[]): Deadline {
  const controller = new AbortController();
  const heard: [AbortSignal, () => void][] = [];
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
    for (const [parent, listener] of heard.splice(0)) parent.removeEventListener("abort", listener);
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
    heard.push([parent, listener]);
  }
  return { signal: controller.signal, restart, pause, end };
}
