import type { AgentMessage, AssistantMessage } from "../messages.ts";
import { CallIds, toolCalls, withCallIds } from "./tool-calls.ts";

/** The history of a run, message for message as the host knows it, and the call ids it has used. */
export class Conversation {
  readonly #messages: AgentMessage[];
  readonly #ids = new CallIds();

  constructor(history: readonly AgentMessage[]) {
    this.#messages = [...history];
    this.reserveIds(history);
  }

  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  append(message: AgentMessage): void {
    this.#messages.push(message);
    this.reserveIds([message]);
  }

  /** Puts `summary` in the place of the first `count` messages. A call keeps its id to itself also once summarised. */
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

  /** Ids that a request showed the model instead of the history's own. No call may get one of them. */
  reserveIds(messages: readonly AgentMessage[]): void {
    for (const call of messages.flatMap(toolCalls)) this.#ids.add(call.id);
  }

  /** The same turn, its call ids made unique in this conversation. */
  withOwnIds(message: AssistantMessage): AssistantMessage {
    return withCallIds(message, (call) => this.#ids.take(call.id));
  }
}
