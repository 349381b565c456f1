import { ApiError } from "../api-error.ts";

/** The result of a tool. */
export interface McpToolText {
  // The SDK's type of results has an index signature.
  [name: string]: unknown;
  content: { type: "text"; text: string }[];
  isError?: boolean;
}

export function toToolText(text: string): McpToolText {
  return { content: [{ type: "text", text: text.toWellFormed() }] };
}

export function toToolError(text: string): McpToolText {
  return { ...toToolText(text), isError: true };
}

/** Runs a tool. A request that cannot be fulfilled becomes a result that the client's model can read. */
export async function runTool(work: () => Promise<string>): Promise<McpToolText> {
  try {
    return toToolText(await work());
  } catch (error) {
    if (error instanceof ApiError) return toToolError([error.message, error.remedy ?? []].flat().join(" "));
    throw error;
  }
}
