import { type ToolCallBlock, withContent } from "../content.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";

/** Returns the calls of a turn, in order. */
export function getToolCalls(message: AgentMessage): readonly ToolCallBlock[] {
  return message.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [];
}

/**
 * Returns the calls without results at the end of a history, and their turn, if there are any. If calls share an id,
 * only the first is returned, because their results would be ambiguous.
 */
export function findPendingCalls(
  messages: readonly AgentMessage[],
): { readonly message: AssistantMessage; readonly calls: readonly ToolCallBlock[] } | undefined {
  const at = messages.findLastIndex(({ role }) => role !== "toolResult");
  const message = messages[at];
  if (message?.role !== "assistant") return undefined;
  const results = messages.slice(at + 1).filter((result) => result.role === "toolResult");
  const seen = new Set(results.map(({ toolCallId }) => toolCallId));
  const calls = getToolCalls(message).filter(({ id }) => !seen.has(id) && seen.add(id));
  return calls.length === 0 ? undefined : { message, calls };
}

/** Converts a new call id for a wire format. Different ids must stay different. */
export type ToWireId = (id: string) => string;

/** The call ids of a conversation. Creates new ids for duplicates. */
export class CallIds {
  readonly #used = new Set<string>();
  /** The next number to append to each id. Ids are never freed, so no number is tried twice. */
  readonly #next = new Map<string, number>();
  readonly #toWireId: ToWireId;

  constructor(toWireId: ToWireId = (id) => id) {
    this.#toWireId = toWireId;
  }

  /** Reserves the ids of the calls in these messages. */
  reserve(messages: readonly AgentMessage[]): void {
    for (const { id } of messages.flatMap(getToolCalls)) this.#used.add(id);
  }

  /** Returns the turn with unique call ids. Ids that are empty or already used are replaced with numbered ones. */
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
