import type { ChildProcess } from "node:child_process";
import type { Tool } from "@signalbox/agent-core";
import type { McpOAuthSettings } from "./sign-in/types.ts";

/** Transport and time limits of a server. */
export type McpServerSettings = (
  | {
      /** Program of a server that speaks over stdio. */
      readonly command: string;
      readonly args?: readonly string[];
      /** Environment variables, in addition to `PATH`, `HOME` and the like. */
      readonly env?: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | {
      /** Starts the process of a server, for example in a sandbox. Its three standard streams are pipes. */
      readonly start: () => Promise<ChildProcess>;
    }
  | {
      /** URL of a server with Streamable HTTP. Redirects are followed only within the same origin. */
      readonly url: string;
      /** With an `Authorization` header, the sign-in is not used. */
      readonly headers?: Readonly<Record<string, string>>;
      readonly oauth?: McpOAuthSettings;
    }
) & {
  /** Time limit for starting, the handshake and listing tools, in milliseconds. Default: 30,000. */
  readonly startMs?: number;
  /**
   * Time limit for a call, in milliseconds. It starts again when the server reports progress, up to ten times this
   * limit in total. Default: 60,000.
   */
  readonly callMs?: number;
};

/** Valid server names. They contain no `_`, so that the names of two servers' tools never collide. */
export const MCP_SERVER_NAME: RegExp = /^[a-z0-9][a-z0-9-]{0,23}$/;

/** Returns the prefix of the names of a server's tools. */
export function toolPrefix(server: string): string {
  return `mcp__${server}__`;
}

/** A tool of a server. Treat its results as untrusted content. */
export interface McpTool extends Tool {
  readonly server: string;
  /** True if the current description differs from the accepted one, or the tool is new. It needs a review. */
  readonly changed: boolean;
}

export interface McpServerStatus {
  readonly name: string;
  readonly transport: "stdio" | "http";
  readonly state: "not started" | "starting" | "ready" | "down";
  /** Names of its tools as agents see them. */
  readonly tools: readonly string[];
  /** True if the server is down because a person has to sign in. */
  readonly needsSignIn: boolean;
  /** The reason why the server is down, and the omitted tools. */
  readonly notes: readonly string[];
}

/**
 * Stores which descriptions of a server's tools were accepted: the first ones, and those that an owner accepted later.
 * Values are JSON.
 */
export interface McpDescriptionStore {
  get(key: string): Promise<unknown>;
  set(key: string, hashes: Readonly<Record<string, string>>): Promise<void>;
}
