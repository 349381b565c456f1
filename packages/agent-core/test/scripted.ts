import { expect } from "vitest";
import type {
  AgentEvent,
  AssistantMessage,
  Block,
  Message,
  Model,
  ModelContext,
  ModelEvent,
  StopReason,
  StreamModel,
  StreamOptions,
  Tool,
  ToolCallBlock,
  ToolResult,
  Usage,
  UserMessage,
} from "../src/index.ts";
import { orderProblems } from "./event-order.ts";

export const MODEL: Model = {
  id: "scripted-1",
  provider: "scripted",
  api: "scripted",
  contextWindow: 200_000,
  maxOutputTokens: 8_192,
  input: ["text", "image"],
  thinking: [],
  tools: "native",
};

export const SYSTEM = { stable: "You are a helpful assistant." };

export function user(content: string, timestamp = 1): UserMessage {
  return { role: "user", content, timestamp };
}

export function toolCall(id: string, name: string, args: ToolCallBlock["args"] = {}): ToolCallBlock {
  return { type: "toolCall", id, name, args, argsText: JSON.stringify(args) };
}

export function usage(input: number, output: number, costMicros?: number): Usage {
  return {
    input: { total: input, uncached: input, cacheRead: 0, cacheWrite: 0 },
    output: { total: output, reasoning: 0 },
    source: "reported",
    ...(costMicros === undefined ? {} : { costMicros }),
  };
}

export function assistant(
  content: string | readonly Block[],
  extra: Partial<AssistantMessage> = {},
): AssistantMessage {
  const blocks: readonly Block[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const stopReason: StopReason = blocks.some((block) => block.type === "toolCall") ? "tool_use" : "end_turn";
  return {
    role: "assistant",
    content: blocks,
    api: MODEL.api,
    provider: MODEL.provider,
    model: MODEL.id,
    stopReason,
    timestamp: 1,
    ...extra,
  };
}

/** The events a vendor's stream would give for a turn, text in `pieces` deltas. */
export function* eventsOf(message: AssistantMessage, pieces = 2): Generator<ModelEvent> {
  yield {
    type: "start",
    request: { api: message.api, provider: message.provider, model: message.model },
    warnings: [],
  };
  for (let index = 0; index < message.content.length; index++) {
    const block = message.content[index];
    if (block === undefined) continue;
    yield {
      type: "block.start",
      index,
      block:
        block.type === "toolCall"
          ? { type: "toolCall", id: block.id, name: block.name }
          : { type: block.type },
    };
    const text = block.type === "text" || block.type === "thinking" ? block.text : "";
    const step = Math.max(1, Math.ceil(text.length / pieces));
    for (let at = 0; at < text.length; at += step) {
      const delta = text.slice(at, at + step);
      yield { type: block.type === "thinking" ? "thinking.delta" : "text.delta", index, delta };
    }
    if (block.type === "toolCall") yield { type: "tool.delta", index, delta: block.argsText };
    yield { type: "block.end", index, block };
  }
  if (message.usage !== undefined) yield { type: "usage", usage: message.usage };
  if (message.error !== undefined) yield { type: "error", error: message.error, partial: message };
  else yield { type: "finish", message };
}

/** One request a scripted model got. */
export interface Asked {
  readonly model: Model;
  readonly context: ModelContext;
  readonly options: StreamOptions;
  readonly messages: readonly Message[];
}

/** A turn, or what makes one of the request. */
export type Turn =
  | AssistantMessage
  | string
  | ((asked: Asked) => AssistantMessage | AsyncIterable<ModelEvent>);

export interface Scripted {
  readonly stream: StreamModel;
  readonly asked: Asked[];
}

/** A model that gives these turns, one a request, and keeps what it was asked. The last one is given again for ever. */
export function scripted(...turns: readonly Turn[]): Scripted {
  const asked: Asked[] = [];
  const stream: StreamModel = (model, context, options = {}) => {
    const request = { model, context, options, messages: context.messages };
    const turn = turns[Math.min(asked.length, turns.length - 1)];
    asked.push(request);
    if (turn === undefined) throw new Error("no turns");
    const made =
      typeof turn === "function" ? turn(request) : typeof turn === "string" ? assistant(turn) : turn;
    // What a test makes itself is read as it is, and not through a generator that would mend it.
    return "role" in made ? inTurn(eventsOf(made)) : made;
  };
  return { stream, asked };
}

async function* inTurn(events: Iterable<ModelEvent>): AsyncGenerator<ModelEvent> {
  yield* events;
}

/** A tool that answers with what `run` makes of its arguments. */
export function tool(name: string, run: Tool["execute"] | string, extra: Partial<Tool> = {}): Tool {
  return {
    name,
    description: `Test tool ${name}.`,
    inputSchema: { type: "object" },
    effects: "none",
    execute: typeof run === "string" ? async () => text(run) : run,
    ...extra,
  };
}

export function text(value: string): ToolResult {
  return { content: [{ type: "text", text: value }] };
}

/** Every event of a run; they come in the documented order. */
export async function collect(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const all: AgentEvent[] = [];
  try {
    for await (const event of events) all.push(event);
  } finally {
    if (all.length > 0) expect(orderProblems(all)).toEqual([]);
  }
  return all;
}

/** The text of a request's messages, one line each, for expectations that read like a conversation. */
export function lines(messages: readonly Message[]): string[] {
  return messages.map((message) => {
    const content =
      typeof message.content === "string"
        ? message.content
        : message.content
            .map((block) =>
              "text" in block
                ? block.text
                : block.type === "toolCall"
                  ? `→${block.name}#${block.id}`
                  : block.type,
            )
            .join(" ");
    return message.role === "toolResult"
      ? `result#${message.toolCallId}: ${content}`
      : `${message.role}: ${content}`;
  });
}
