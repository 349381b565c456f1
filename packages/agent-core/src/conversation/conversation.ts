import type { AgentMessage } from "../messages.ts";
import { CallIds, toolCalls } from "./tool-calls.ts";

/** The history of a run, message for message as the host knows it, and the call ids it has used. */
export class Conversation {
  readonly #messages: AgentMessage[];
  /** A call keeps its id to itself, also once it is summarised. */
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

  /** Puts `summary` in the place of the first `count` messages. */
  compact(summary: AgentMessage, count: number): void {
    this.#messages.splice(0, count, summary);
  }

  /** Puts the results of the last turn, which came in as they finished, in the order of its calls. */
  sortLastResults(): void {
    const messages = this.#messages;
    const first = messages.findLastIndex(({ role }) => role !== "toolResult") + 1;
    const turn = messages[first - 1];
    if (turn === undefined) return;
    const order = new Map(toolCalls(turn).map((call, index) => [call.id, index]));
    const place = (message: AgentMessage): number =>
      (message.role === "toolResult" ? order.get(message.toolCallId) : undefined) ?? order.size;
    messages.push(...messages.splice(first).sort((a, b) => place(a) - place(b)));
  }
}
