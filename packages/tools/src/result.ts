import type { JsonValue, ToolContext, ToolResult } from "@signalbox/agent-core";

/** A result of text alone. */
export function success(text: string, details: JsonValue): ToolResult {
  return { content: [{ type: "text", text }], details };
}

/** A failure the model should see: one helpful sentence. */
export function failure(text: string, details?: JsonValue): ToolResult {
  const content = [{ type: "text" as const, text }];
  return details === undefined ? { content, isError: true } : { content, details, isError: true };
}

/** What a tool's own words around the content may take. */
const NOTE_CHARS = 1_000;

/**
 * Characters of content that a tool may give: as many as the model's window lets a result have, less what its notes
 * take, so that the loop has nothing to cut.
 */
export function contentRoom({ resultChars }: ToolContext): number {
  return resultChars - Math.min(NOTE_CHARS, Math.floor(resultChars / 4));
}
