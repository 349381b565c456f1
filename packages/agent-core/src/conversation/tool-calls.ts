import type { ToolCallBlock } from "../content.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";

/** The calls of a turn, in order. */
export function toolCalls(message: AgentMessage): readonly ToolCallBlock[] {
  return message.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [];
}

/** The same turn with each call under the id it is given, in order; the same object where all keep theirs. */
export function withCallIds(
  message: AssistantMessage,
  idOf: (call: ToolCallBlock) => string,
): AssistantMessage {
  const content = message.content.map((block) => {
    if (block.type !== "toolCall") return block;
    const id = idOf(block);
    return id === block.id ? block : { ...block, id };
  });
  return content.every((block, at) => block === message.content[at]) ? message : { ...message, content };
}

/** The last model turn and its calls that have no result yet. */
export interface Unanswered {
  readonly message: AssistantMessage;
  readonly calls: readonly ToolCallBlock[];
}

/**
 * The calls a history ends in without results: those of the last model turn, when only results of its other calls
 * follow it. Of two of one id only the first, as no result could be told from the other's. `undefined` when there are
 * none.
 */
export function unansweredCalls(messages: readonly AgentMessage[]): Unanswered | undefined {
  const at = messages.findLastIndex(({ role }) => role !== "toolResult");
  const message = messages[at];
  if (message?.role !== "assistant") return undefined;
  const seen = new Set(
    messages.slice(at + 1).map((result) => result.role === "toolResult" && result.toolCallId),
  );
  const calls = toolCalls(message).filter(({ id }) => !seen.has(id) && seen.add(id));
  return calls.length === 0 ? undefined : { message, calls };
}

/** The call ids that a conversation has used, and new ids for calls that would repeat one. */
export class CallIds {
  readonly #used = new Set<string>();
  /** The number to try next behind an id. Ids are never freed, so no number has to be tried twice. */
  readonly #next = new Map<string, number>();
  readonly #fit: (id: string) => string;

  /** `fit` turns a new id into one that a wire format takes; it must keep different ids different. */
  constructor(fit: (id: string) => string = (id) => id) {
    this.#fit = fit;
  }

  add(id: string): void {
    this.#used.add(id);
  }

  /** The id itself where it is free and not empty, else the id with a number behind it. It is taken from now on. */
  take(id: string): string {
    let own = id;
    while (own === "" || this.#used.has(own)) own = this.#numbered(id || "call");
    this.#used.add(own);
    return own;
  }

  #numbered(stem: string): string {
    const n = this.#next.get(stem) ?? 2;
    this.#next.set(stem, n + 1);
    return this.#fit(`${stem}_${n}`);
  }
}
