import type { AgentMessage } from "../messages.ts";
import { CallIds, getToolCalls } from "./tool-calls.ts";

/** The history of a run as the host knows it, and the call ids that it contains. */
export class Conversation {
  readonly #messages: AgentMessage[];
  /** Ids stay reserved even after a compaction. */
  readonly ids: CallIds = new CallIds();

  constructor(history: readonly AgentMessage[]) {
    this.#messages = [...history];
    this.ids.reserve(history);
  }

  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  append(message: AgentMessage): void {
    this.#messages.push(message);
    this.ids.reserve([message]);
  }

  /** Replaces the first `count` messages with `summary`. */
  compact(summary: AgentMessage, count: number): void {
    this.#messages.splice(0, count, summary);
  }

  /**
   * Sorts the results of the last turn by the order of its calls. They were added in the order in which they finished.
   */
  sortLastResults(): void {
    const messages = this.#messages;
    const first = messages.findLastIndex(({ role }) => role !== "toolResult") + 1;
    const turn = messages[first - 1];
    if (turn === undefined) return;
    const order = new Map(getToolCalls(turn).map((call, index) => [call.id, index]));
    const place = (message: AgentMessage): number =>
      (message.role === "toolResult" ? order.get(message.toolCallId) : undefined) ?? order.size;
    messages.push(...messages.splice(first).sort((a, b) => place(a) - place(b)));
  }
}
