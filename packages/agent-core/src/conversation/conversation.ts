import type { AgentMessage, AssistantMessage } from "../messages.ts";
import { CallIds } from "./call-ids.ts";
import { toolCalls } from "./repair.ts";

/** The history of a run, message for message as the host knows it, and the call ids it has used. */
export class Conversation {
  readonly #messages: AgentMessage[];
  #ids: CallIds | undefined;

  constructor(history: readonly AgentMessage[]) {
    this.#messages = [...history];
  }

  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  append(message: AgentMessage): void {
    this.#messages.push(message);
    if (this.#ids !== undefined) reserve(this.#ids, [message]);
  }

  /** Puts `summary` in the place of the first `count` messages. A call keeps its id to itself also once summarised. */
  compact(summary: AgentMessage, count: number): void {
    this.#ids ??= this.#usedIds();
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

  /** Ids that a request showed the model in place of a history's own: no call may be given one of them. */
  reserveIds(messages: readonly AgentMessage[]): void {
    this.#ids ??= this.#usedIds();
    reserve(this.#ids, messages);
  }

  /** The same turn, its call ids made unique in this conversation. */
  withOwnIds(message: AssistantMessage): AssistantMessage {
    if (toolCalls(message).length === 0) return message;
    this.#ids ??= this.#usedIds();
    const ids = this.#ids;
    let renamed = false;
    const content = message.content.map((block) => {
      if (block.type !== "toolCall") return block;
      const id = ids.take(block.id);
      if (id === block.id) return block;
      renamed = true;
      return { ...block, id };
    });
    return renamed ? { ...message, content } : message;
  }

  #usedIds(): CallIds {
    const ids = new CallIds();
    reserve(ids, this.#messages);
    return ids;
  }
}

function reserve(ids: CallIds, messages: readonly AgentMessage[]): void {
  for (const message of messages) for (const call of toolCalls(message)) ids.add(call.id);
}
