import { timerMs } from "../timer.ts";

export interface RaceLimits {
  /** Stops the work. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the work has to end by itself. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds it has to give its value after either; default 0. */
  readonly graceMs?: number | undefined;
  /** Called once when it has to end. */
  readonly onEnding?: ((why: "stopped" | "timeout") => void) | undefined;
}

/** `ending` says why the work was told to end, whether or not it gave a value before it was left behind. */
export type Raced<T> =
  | { readonly done: true; readonly value: T; readonly ending?: "stopped" | "timeout" | undefined }
  | { readonly done: false; readonly ending: "stopped" | "timeout" };

/** What a hook gives, which is left behind at once when the run has to stop. */
export async function untilStopped<T>(given: T | Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const waited = await race(Promise.resolve(given), { signal });
  return waited.done ? waited.value : undefined;
}

/**
 * Waits for work no longer than it may take: until the signal aborts or its time is over, and a moment of grace after
 * that. What is left behind is ignored. Rejects as the work does.
 */
export function race<T>(
  work: PromiseLike<T>,
  { signal, timeoutMs, graceMs = 0, onEnding }: RaceLimits,
): Promise<Raced<T>> {
  return new Promise((resolve, reject) => {
    let ending: "stopped" | "timeout" | undefined;
    let timer: NodeJS.Timeout | undefined;
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const end = (why: "stopped" | "timeout"): void => {
      if (ending !== undefined) return;
      ending = why;
      clearTimeout(timer);
      onEnding?.(why);
      const leave = (): void => {
        settle();
        resolve({ done: false, ending: why });
      };
      if (graceMs > 0) timer = setTimeout(leave, timerMs(graceMs));
      else leave();
    };
    const onAbort = (): void => end("stopped");
    signal?.addEventListener("abort", onAbort);
    if (timeoutMs !== undefined) timer = setTimeout(end, timerMs(timeoutMs), "timeout");
    work.then(
      (value) => {
        settle();
        resolve({ done: true, value, ending });
      },
      (error: unknown) => {
        settle();
        reject(error);
      },
    );
    if (signal?.aborted === true) onAbort();
  });
}
