import type { ToolResult } from "@signalbox/agent-core";

/** Time limit for a tool to finish after its signal was aborted, in milliseconds. */
const GRACE_MS = 5_000;
/** Maximum delay of a Node.js timer, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface Limits {
  /** Cancels the call. */
  readonly signal: AbortSignal;
  /** Default: no time limit. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Runs a tool with a time limit. If a tool ignores its signal, it is abandoned after a grace period, so that it does
 * not block the conversation.
 */
export async function withTimeout(
  { signal, timeoutMs = MAX_TIMER_MS }: Limits,
  body: (signal: AbortSignal) => Promise<ToolResult>,
): Promise<ToolResult> {
  const timeout = new AbortController();
  const limitMs = timeoutMs > 0 ? Math.min(timeoutMs, MAX_TIMER_MS) : 0;
  const timer = setTimeout(() => timeout.abort(new Error(`it took more than ${limitMs} ms`)), limitMs);
  const ending = AbortSignal.any([signal, timeout.signal]);
  let grace: NodeJS.Timeout | undefined;
  const { promise: abandoned, reject } = Promise.withResolvers<never>();
  const startGrace = (): void => {
    grace = setTimeout(() => reject(ending.reason), GRACE_MS);
  };
  if (ending.aborted) startGrace();
  else ending.addEventListener("abort", startGrace, { once: true });
  try {
    return await Promise.race([body(ending), abandoned]);
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
    ending.removeEventListener("abort", startGrace);
  }
}
