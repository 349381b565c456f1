import type { JsonObject, ToolContext, ToolResult } from "@signalbox/agent-core";

/** A file that a page downloaded. It is outside the agent's workspace. */
export interface Download {
  readonly name: string;
  /** Size in bytes. */
  readonly bytes: number;
}

/** The browser of one agent, operated through the tools of `@playwright/mcp`. */
export interface AgentBrowser {
  /**
   * Calls a tool of the MCP server. Starts the browser if it is not running.
   *
   * @throws Error if another conversation uses the browser, or if it cannot start
   */
  call(
    tool: string,
    args: JsonObject,
    sessionKey: string,
    context: Pick<ToolContext, "signal" | "resultChars">,
  ): Promise<ToolResult>;
  /** Lists the downloads of the running browser. */
  listDownloads(sessionKey: string): Promise<readonly Download[]>;
  /**
   * Reads a download.
   *
   * @throws Error if no download has this name, or if it is larger than {@link MAX_DOWNLOAD_BYTES}
   */
  readDownload(name: string, sessionKey: string): Promise<Uint8Array>;
}

/** Maximum size of a download that an agent can save, in bytes. */
export const MAX_DOWNLOAD_BYTES = 50_000_000;
