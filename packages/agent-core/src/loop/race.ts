/** Why work was told to end. */
export type Ending = "aborted" | "timeout";

export interface RaceLimits {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the work has to end by itself. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds it has to give its value after either; default 0. */
  readonly graceMs?: number | undefined;
  readonly onEnding?: (why: Ending) => void;
}

/** `ending` says why the work was told to end, whether or not it gave a value before it was left behind. */
export type Raced<T> =
  | { readonly done: true; readonly value: T; readonly ending: Ending | undefined }
  | { readonly done: false; readonly ending: Ending };

/** Milliseconds; what a timer of Node holds, 24 days. It fires at once for more. */
const LONGEST_TIMER = 2_147_483_647;

export function startTimer(onEnd: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(onEnd, Math.min(ms, LONGEST_TIMER));
}

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
