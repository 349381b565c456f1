import type { AgentMessage } from "../messages.ts";
import { estimateTokens } from "../tokens.ts";

/**
 * Returns the number of messages at the start to replace with a summary, so that about `keepTokens` tokens remain.
 * Never separates a model turn from its results, and prefers a user message as the first remaining one. Returns 0 if
 * there is nothing to gain.
 */
export function findCutPoint(
  messages: readonly AgentMessage[],
  keepTokens: number,
  getTokens: (message: AgentMessage) => number = estimateTokens,
): number {
  let kept = 0;
  let atTurn: number | undefined;
  let atUser: number | undefined;
  for (let i = messages.length - 1; i > 0; i--) {
    const message = messages[i];
    if (message === undefined) break;
    kept += getTokens(message);
    // Keep at least the last turn, regardless of its length.
    if (kept > keepTokens && atTurn !== undefined) break;
    if (message.role === "toolResult") continue;
    atTurn = i;
    if (message.role !== "assistant") atUser = i;
    if (kept > keepTokens) break;
  }
  const first = messages[0];
  if (first === undefined || kept + getTokens(first) <= keepTokens) return 0;
  const cut = atUser ?? atTurn ?? 0;
  // Replacing only an earlier summary would gain nothing.
  return messages.slice(0, cut).every((message) => message.role === "compactionSummary") ? 0 : cut;
}
