import type { AgentMessage } from "../messages.ts";

/**
 * Index of the first message to send when at most `turns` user turns are (a run of user-side messages counts as one
 * turn). A quarter of the turns is dropped at once, so that the start of the request, and with it the vendor's
 * prompt cache, stays the same for a while.
 */
export function turnStart(messages: readonly AgentMessage[], turns: number | undefined): number {
  if (turns === undefined) return 0;
  const starts: number[] = [];
  let inInput = false;
  for (let i = 0; i < messages.length; i++) {
    const role = messages[i]?.role;
    // A summary is no turn; it goes when what follows it goes.
    const input = role !== "assistant" && role !== "toolResult" && role !== "compactionSummary";
    if (input && !inInput) starts.push(i);
    inInput = input;
  }
  const limit = Math.max(1, Math.floor(turns));
  if (starts.length <= limit) return 0;
  const step = Math.max(1, Math.floor(limit / 4));
  const dropped = Math.ceil((starts.length - limit) / step) * step;
  return starts[Math.min(dropped, starts.length - 1)] ?? 0;
}
