import { type ToolCallBlock, withContent } from "../content.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";

/** The calls of a turn, in order. */
export function toolCalls(message: AgentMessage): readonly ToolCallBlock[] {
  return message.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [];
}

/**
 * The calls a history ends in without results, and the turn that makes them: the last one, when only results of its
 * other calls follow it. Of two calls of one id only the first, as no result could be told from the other's.
 * `undefined` when there are none.
 */
export function unansweredCalls(
  messages: readonly AgentMessage[],
): { readonly message: AssistantMessage; readonly calls: readonly ToolCallBlock[] } | undefined {
  const at = messages.findLastIndex(({ role }) => role !== "toolResult");
  const message = messages[at];
  if (message?.role !== "assistant") return undefined;
  const results = messages.slice(at + 1).filter((result) => result.role === "toolResult");
  const seen = new Set(results.map(({ toolCallId }) => toolCallId));
  const calls = toolCalls(message).filter(({ id }) => !seen.has(id) && seen.add(id));
  return calls.length === 0 ? undefined : { message, calls };
}

/** Turns a new call id into one that a wire format takes. It must keep different ids different. */
export type ToWireId = (id: string) => string;

/** The call ids that a conversation has used, and new ids for calls that would repeat one. */
export class CallIds {
  readonly #used = new Set<string>();
  /** The number to try next behind an id. Ids are never freed, so no number has to be tried twice. */
  readonly #next = new Map<string, number>();
  readonly #toWireId: ToWireId;

  constructor(toWireId: ToWireId = (id) => id) {
    this.#toWireId = toWireId;
  }

  /** Keeps the ids of these messages' calls from being given to others. */
  reserve(messages: readonly AgentMessage[]): void {
    for (const { id } of messages.flatMap(toolCalls)) this.#used.add(id);
  }

  /** The turn with an id of its own for each call: its own where that is free and not empty, else one with a number. */
  own(message: AssistantMessage): AssistantMessage {
    const content = message.content.map((block) => {
      if (block.type !== "toolCall") return block;
      const id = this.#take(block.id);
      return id === block.id ? block : { ...block, id };
    });
    return withContent(message, content);
  }

  #take(id: string): string {
    let own = id;
    while (own === "" || this.#used.has(own)) own = this.#numbered(id || "call");
    this.#used.add(own);
    return own;
  }

  #numbered(stem: string): string {
    const n = this.#next.get(stem) ?? 2;
    this.#next.set(stem, n + 1);
    return this.#toWireId(`${stem}_${n}`);
  }
}
