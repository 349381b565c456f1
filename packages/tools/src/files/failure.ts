import { reasonOf, type ToolResult } from "@signalbox/agent-core";
import { failure } from "../result.ts";
import { WorkspaceError } from "../workspace/errors.ts";

/** A problem with a path as a result; anything else is a bug and goes on as it is. */
export function fileFailure(error: unknown): ToolResult {
  if (error instanceof WorkspaceError) return failure(error.message, { code: error.code });
  if (error instanceof Error && error.name === "AbortError") throw error;
  return failure(`The file could not be read or written: ${reasonOf(error)}.`);
}
