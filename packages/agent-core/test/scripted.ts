import { expect } from "vitest";
import type { AgentEvent, Message, Tool, ToolResult, Usage } from "../src/index.ts";
import {
  assistantMessage,
  SCRIPTED_MODEL,
  type ScriptedRequest,
  type ScriptedTurn,
  scriptedModel,
  userMessage,
} from "../src/test/index.ts";
import { orderProblems } from "./event-order.ts";

export { toEvents, toolCall } from "../src/test/index.ts";

// Short names for what nearly every line of these tests is made of.
export const MODEL = SCRIPTED_MODEL;
export const user = userMessage;
export const assistant = assistantMessage;
export type Asked = ScriptedRequest;
export type Turn = ScriptedTurn;

export const SYSTEM = { stable: "You are a helpful assistant." };

export function usage(input: number, output: number, costMicros?: number): Usage {
  return {
    input: { total: input, uncached: input, cacheRead: 0, cacheWrite: 0 },
    output: { total: output, reasoning: 0 },
    source: "reported",
    costMicros,
  };
}

/** A scripted model, with what it was asked under a shorter name. */
export function scripted(...turns: readonly Turn[]) {
  const { stream, requests } = scriptedModel(...turns);
  return { stream, asked: requests };
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
