import type { ToolResult } from "@signalbox/agent-core";

/** How long a body that is to end may still take to give its result, in milliseconds. */
const GRACE_MS = 5_000;
/** The longest that a timer of Node.js can wait, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

interface Limits {
  /** Ends the work from outside. */
  readonly signal: AbortSignal;
  /** Milliseconds that it may take. Default: as long as it wants. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Waits for the body of a tool no longer than its time limit. A body that does not end when told to is abandoned: it
 * must not block the conversation that called it.
 */
export async function inTime(
  { signal, timeoutMs = LONGEST_MS }: Limits,
  body: (signal: AbortSignal) => Promise<ToolResult>,
): Promise<ToolResult> {
  const late = new AbortController();
  const limitMs = timeoutMs > 0 ? Math.min(timeoutMs, LONGEST_MS) : 0;
  const timer = setTimeout(() => late.abort(new Error(`it took more than ${limitMs} ms`)), limitMs);
  const ending = AbortSignal.any([signal, late.signal]);
  let grace: NodeJS.Timeout | undefined;
  const { promise: left, reject } = Promise.withResolvers<never>();
  const leave = (): void => {
    grace = setTimeout(() => reject(ending.reason), GRACE_MS);
  };
  if (ending.aborted) leave();
  else ending.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([body(ending), left]);
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
    ending.removeEventListener("abort", leave);
  }
}
