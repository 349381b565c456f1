import type { JsonObject } from "../json.ts";
import type { Tool, ToolCall, ToolResult } from "../tool.ts";

/** A tool without effects that accepts any arguments and records its calls. */
export interface ScriptedTool extends Tool<JsonObject> {
  readonly calls: readonly ToolCall<JsonObject>[];
}

/**
 * Creates a tool that returns these values, one per call, and then repeats the last one. Errors among the values are
 * thrown.
 */
export function scriptedTool(
  name: string,
  ...answers: readonly (string | ToolResult | Error)[]
): ScriptedTool {
  const calls: ToolCall<JsonObject>[] = [];
  return {
    name,
    description: `Scripted tool ${name}.`,
    inputSchema: { type: "object" },
    effects: "none",
    calls,
    async execute(call) {
      const answer = answers[Math.min(calls.length, answers.length - 1)] ?? "ok";
      calls.push(call);
      if (answer instanceof Error) throw answer;
      return typeof answer === "string" ? { content: [{ type: "text", text: answer }] } : answer;
    },
  };
}
