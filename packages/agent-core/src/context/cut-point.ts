import type { AgentMessage } from "../messages.ts";
import { estimateTokens } from "../tokens.ts";

/**
 * How many messages at the start to replace by a summary, so that about `keepTokens` tokens stay as they are. A model
 * turn and its results are never parted; a user's message is preferred as the first that stays. 0 when there is
 * nothing to gain.
 */
export function cutPoint(
  messages: readonly AgentMessage[],
  keepTokens: number,
  tokensOf: (message: AgentMessage) => number = estimateTokens,
): number {
  let kept = 0;
  let atTurn: number | undefined;
  let atUser: number | undefined;
  for (let i = messages.length - 1; i > 0; i--) {
    const message = messages[i];
    if (message === undefined) break;
    kept += tokensOf(message);
    // Something has to stay, however long the last turn is.
    if (kept > keepTokens && atTurn !== undefined) break;
    if (message.role === "toolResult") continue;
    atTurn = i;
    if (message.role !== "assistant") atUser = i;
    if (kept > keepTokens) break;
  }
  const first = messages[0];
  if (first === undefined || kept + tokensOf(first) <= keepTokens) return 0;
  const cut = atUser ?? atTurn ?? 0;
  // A summary in place of nothing but an earlier summary would gain nothing.
  return messages.slice(0, cut).every((message) => message.role === "compactionSummary") ? 0 : cut;
}
