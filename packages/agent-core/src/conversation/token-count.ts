import type { AgentMessage } from "../messages.ts";
import { estimateTokens } from "../tokens.ts";
import { count } from "../usage.ts";

/**
 * Estimates the tokens of the next request: the vendor's last count, if any, plus an estimate of the messages since
 * then.
 */
export class TokenCount {
  /** The vendor's last count, including everything before the messages. `undefined` if there is none. */
  #reported: number | undefined;
  /** Estimated tokens of the messages since the last count. */
  #guessed = 0;

  constructor(history: readonly AgentMessage[]) {
    // A count from before a compaction includes messages that no longer exist.
    const summaries = history.filter(({ role }) => role === "compactionSummary");
    const compacted = Math.max(...summaries.map(({ timestamp }) => timestamp));
    const counted = history.findLastIndex(
      (message) => message.timestamp >= compacted && reportedTokens(message) !== undefined,
    );
    const last = history[counted];
    if (last !== undefined) this.add(last);
    this.#guessed = estimateTokens(history.slice(counted + 1));
  }

  add(message: AgentMessage): void {
    const reported = reportedTokens(message);
    this.#guessed = reported === undefined ? this.#guessed + estimateTokens(message) : 0;
    this.#reported = reported ?? this.#reported;
  }

  /** @param prefix estimated tokens before the messages, which the vendor's count already includes */
  total(prefix: number): number {
    return (this.#reported ?? prefix) + this.#guessed;
  }

  /** Subtracts the tokens of pruned results. */
  subtract(tokens: number): void {
    if (this.#reported !== undefined) this.#reported = Math.max(0, this.#reported - tokens);
    else this.#guessed = Math.max(0, this.#guessed - tokens);
  }

  /** Restarts the count after a compaction. */
  restart(messages: readonly AgentMessage[]): void {
    this.#reported = undefined;
    this.#guessed = estimateTokens(messages);
  }
}

function reportedTokens(message: AgentMessage): number | undefined {
  if (message.role !== "assistant") return undefined;
  const input = count(message.usage?.input?.total);
  if (input === undefined) return undefined;
  return input + (count(message.usage?.output?.total) ?? estimateTokens(message));
}
