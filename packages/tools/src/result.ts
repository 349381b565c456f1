import { type JsonValue, reasonOf, type ToolContext, type ToolResult } from "@signalbox/agent-core";
import { WorkspaceError } from "./workspace/errors.ts";

/** Creates a successful result with one text. */
export function success(text: string, details: JsonValue): ToolResult {
  return { content: [{ type: "text", text }], details };
}

/** Creates a failed result. The text is for the model: one helpful sentence. */
export function failure(text: string, details?: JsonValue): ToolResult {
  const content = [{ type: "text" as const, text }];
  return details === undefined ? { content, isError: true } : { content, details, isError: true };
}

/** Creates a failed result for a file operation error. Rethrows aborts. */
export function fileFailure(error: unknown): ToolResult {
  if (error instanceof WorkspaceError) return failure(error.message, { code: error.code });
  if (error instanceof Error && error.name === "AbortError") throw error;
  return failure(`The file could not be read or written: ${reasonOf(error)}.`);
}

/** Number of characters that a tool may add to the content of its result. */
const NOTE_CHARS = 1_000;

/**
 * Returns the maximum length of a tool's content in characters: the result limit minus the space for notes. The agent
 * loop then does not need to truncate the result.
 */
export function getContentRoom({ resultChars }: ToolContext): number {
  return resultChars - Math.min(NOTE_CHARS, Math.floor(resultChars / 4));
}
