import type { Tool } from "@signalbox/agent-core";

/** How a server is reached, and how long it may take. */
export type McpServerSettings = (
  | {
      /** Started as a process; it speaks over its input and output. */
      readonly command: string;
      readonly args?: readonly string[];
      /** Its environment, in addition to `PATH`, `HOME` and the like. */
      readonly env?: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | {
      /** Reached over HTTP (streamable). Redirects are followed on the same host alone. */
      readonly url: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
) & {
  /** Milliseconds to start, to shake hands and to list its tools; default 30,000. */
  readonly startMs?: number;
  /** Milliseconds of one call; default 60,000. */
  readonly callMs?: number;
};

/** What a server may be called: no `_`, so that no two names run together in the name of a tool. */
export const MCP_SERVER_NAME: RegExp = /^[a-z0-9][a-z0-9-]{0,23}$/;

/** What the names of a server's tools begin with. */
export function toolPrefix(server: string): string {
  return `mcp__${server}__`;
}

/** A tool of a server. Whatever it gives is what others wrote. */
export interface McpTool extends Tool {
  readonly server: string;
  /** The server first described it differently, or had no such tool: its current description is unreviewed. */
  readonly changed: boolean;
}

export type McpServerState = "not started" | "starting" | "ready" | "down";

/** What is to be said of a server. */
export interface McpServerStatus {
  readonly name: string;
  readonly state: McpServerState;
  /** Names of its tools as agents see them. */
  readonly tools: readonly string[];
  /** Why it is down, and what was wrong with its tools. */
  readonly notes: readonly string[];
}
