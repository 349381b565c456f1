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

// Short names for frequent values of these tests.
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

/** Creates a scripted model. `asked` is short for its requests. */
export function scripted(...turns: readonly Turn[]) {
  const { stream, requests } = scriptedModel(...turns);
  return { stream, asked: requests };
}

/** A tool that returns the result of `run` for its arguments. */
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

/** Returns every event of a run and checks their order. */
export async function collect(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const all: AgentEvent[] = [];
  try {
    for await (const event of events) all.push(event);
  } finally {
    if (all.length > 0) expect(orderProblems(all)).toEqual([]);
  }
  return all;
}

/** Formats the messages of a request, one line each. */
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
