import type { AgentMessage } from "../messages.ts";
import { estimateTokens } from "../tokens.ts";
import { count } from "../usage.ts";

/** The estimated tokens of the next request: the vendor's last count, if there is one, and an estimate of the rest. */
export class TokenCount {
  /** What the vendor last counted, everything before the messages included; `undefined` before it first did. */
  #reported: number | undefined;
  /** A guess at the messages since. */
  #guessed = 0;

  constructor(history: readonly AgentMessage[]) {
    // A count from before a summary is of messages that are gone.
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

  /** `prefix` is a guess at what precedes the messages, which is in the vendor's own count. */
  total(prefix: number): number {
    return (this.#reported ?? prefix) + this.#guessed;
  }

  /** Results were pruned by so much. */
  subtract(tokens: number): void {
    if (this.#reported !== undefined) this.#reported = Math.max(0, this.#reported - tokens);
    else this.#guessed = Math.max(0, this.#guessed - tokens);
  }

  /** Begins anew with the messages that a compaction left. */
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
