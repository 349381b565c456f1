import { reasonOf, type ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "./define.ts";
import { failure, success } from "./result.ts";
import type { Permit } from "./types.ts";

/** A request from the model about other sessions: its sub-agents, by id, or other conversations, by session key. */
export type SessionsRequest =
  | {
      readonly action: "spawn";
      readonly task: string;
      readonly label?: string | undefined;
      /** Names, groups or profiles of tools. Default: all of the run's tools. */
      readonly tools?: readonly string[] | undefined;
    }
  | { readonly action: "send"; readonly session: string; readonly message: string }
  | { readonly action: "list"; readonly others: boolean }
  | { readonly action: "history"; readonly session: string; readonly limit: number };

/** The call that makes a request. */
export interface SessionsCall {
  readonly sessionKey: string;
  /** Stays the same if the call is repeated after a restart. */
  readonly callId: string;
  /** The run that made the call. It cannot delegate more rights than it has, and results may taint it. */
  readonly run: Permit["run"];
}

export interface SessionsToolsOptions {
  /**
   * Handles a request and resolves with a description of the outcome for the model. If it rejects, the model sees the
   * error message.
   */
  readonly carryOut: (request: SessionsRequest, call: SessionsCall) => Promise<string>;
}

/** Returns true if this is the key of another conversation. The id of a sub-agent contains no colon. */
export function isOtherSession(session: string): boolean {
  return session.includes(":");
}

const sessionId = z
  .string()
  .min(1)
  .max(500)
  .describe("A sub-agent's id, or the key of another conversation from sessions_list");
const longText = z.string().min(1).max(20_000);

/**
 * Creates the tools `sessions_spawn`, `sessions_send`, `sessions_list` and `sessions_history`, with which an agent
 * works in other sessions.
 */
export function createSessionsTools({ carryOut }: SessionsToolsOptions): readonly ToolDefinition[] {
  const toResult = async (
    request: SessionsRequest,
    callId: string,
    { record, run }: Permit,
  ): Promise<ToolResult> => {
    try {
      return success(await carryOut(request, { sessionKey: record.sessionKey, callId, run }), {});
    } catch (error) {
      return failure(reasonOf(error));
    }
  };
  return [
    defineTool({
      name: "sessions_spawn",
      description:
        "Give a task to a sub-agent. It works in parallel and knows only `task`, so include everything it needs. Its result arrives later as a message; do not wait or check for it.",
      inputSchema: z.object({
        task: longText,
        label: z.string().min(1).max(60).optional().describe("Short name"),
        tools: z
          .array(z.string().min(1).max(100))
          .max(50)
          .optional()
          .describe("Tools it may use. Default: all of yours"),
      }),
      effects: "keyed",
      run: ({ id, args }, _context, permit) => toResult({ action: "spawn", ...args }, id, permit),
    }),
    defineTool({
      name: "sessions_send",
      description:
        "Give one of your sub-agents another task: it remembers what it did, and its result arrives as a message. Or send a message to the agent of another conversation, which replies there.",
      inputSchema: z.object({ session: sessionId, message: longText }),
      effects: "keyed",
      claims: ({ session }) =>
        isOtherSession(session) ? [{ kind: "message_elsewhere", detail: session }] : [],
      run: ({ id, args }, _context, permit) => toResult({ action: "send", ...args }, id, permit),
    }),
    defineTool({
      name: "sessions_list",
      description:
        "List your sub-agents and their progress. With `others`, also list the other conversations you can reach.",
      inputSchema: z.object({ others: z.boolean().optional() }),
      effects: "none",
      claims: ({ others }) => (others === true ? [{ kind: "read_elsewhere", detail: "their list" }] : []),
      run: ({ id, args: { others = false } }, _context, permit) =>
        toResult({ action: "list", others }, id, permit),
    }),
    defineTool({
      name: "sessions_history",
      description:
        "Read the newest messages of one of your sub-agents' sessions, or of another conversation, oldest first.",
      inputSchema: z.object({ session: sessionId, limit: z.int().min(1).max(50).optional() }),
      effects: "none",
      claims: ({ session }) => (isOtherSession(session) ? [{ kind: "read_elsewhere", detail: session }] : []),
      run: ({ id, args: { session, limit = 10 } }, _context, permit) =>
        toResult({ action: "history", session, limit }, id, permit),
    }),
  ];
}
