/** The reason why a task must end. */
export type Ending = "aborted" | "timeout";

export interface RaceLimits {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the task must end. */
  readonly timeoutMs?: number | undefined;
  /** Grace period in milliseconds after that. Default: 0. */
  readonly graceMs?: number | undefined;
  readonly onEnding?: (why: Ending) => void;
}

/** `ending` is the reason why the task had to end, even if it finished within the grace period. */
export type RaceResult<T> =
  | { readonly done: true; readonly value: T; readonly ending: Ending | undefined }
  | { readonly done: false; readonly ending: Ending };

/** Maximum timer delay of Node.js, about 24 days. A longer one fires immediately. */
const MAX_TIMER_MS = 2_147_483_647;

export function startTimer(onEnd: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(onEnd, Math.min(ms, MAX_TIMER_MS));
}

/** Waits for a hook, but abandons it immediately if the run has to stop. */
export async function waitUnlessAborted<T>(
  given: T | Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  const waited = await race(Promise.resolve(given), { signal });
  return waited.done ? waited.value : undefined;
}

/**
 * Waits for a task until the signal aborts or the timeout expires, plus a grace period. Ignores the result of an
 * abandoned task. Rejects if the task does.
 */
export function race<T>(
  work: PromiseLike<T>,
  { signal, timeoutMs, graceMs = 0, onEnding }: RaceLimits,
): Promise<RaceResult<T>> {
  return new Promise((resolve, reject) => {
    let ending: Ending | undefined;
    let timer: NodeJS.Timeout | undefined;
    const settle = (how: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      how();
    };
    const end = (why: Ending): void => {
      if (ending !== undefined) return;
      ending = why;
      clearTimeout(timer);
      onEnding?.(why);
      const leave = (): void => settle(() => resolve({ done: false, ending: why }));
      if (graceMs > 0) timer = startTimer(leave, graceMs);
      else leave();
    };
    const onAbort = (): void => end("aborted");
    signal?.addEventListener("abort", onAbort);
    if (timeoutMs !== undefined) timer = startTimer(() => end("timeout"), timeoutMs);
    work.then(
      (value) => settle(() => resolve({ done: true, value, ending })),
      (error: unknown) => settle(() => reject(error)),
    );
    if (signal?.aborted === true) onAbort();
  });
}
