import type { JsonValue, ToolResult } from "@signalbox/agent-core";

/** A result of text alone. */
export function success(text: string, details: JsonValue): ToolResult {
  return { content: [{ type: "text", text }], details };
}

/** A failure the model should see: one helpful sentence. */
export function failure(text: string, details?: JsonValue): ToolResult {
  const content = [{ type: "text" as const, text }];
  return details === undefined ? { content, isError: true } : { content, details, isError: true };
}

/** What an unknown thrown value says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
