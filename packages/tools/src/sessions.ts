import { reasonOf, type ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "./define.ts";
import { failure, success } from "./result.ts";
import type { Permit } from "./types.ts";

/** What the model asks of the host's sessions: a run's own sub-agents, by their id, or others, by their key. */
export type SessionsRequest =
  | {
      readonly action: "spawn";
      readonly task: string;
      readonly label?: string | undefined;
      /** Names, groups or profiles. Absent: all that the run has. */
      readonly tools?: readonly string[] | undefined;
    }
  | { readonly action: "send"; readonly session: string; readonly message: string }
  | { readonly action: "list"; readonly others: boolean }
  | { readonly action: "history"; readonly session: string; readonly limit: number };

/** The call that asks. */
export interface SessionsCall {
  readonly sessionKey: string;
  /** The same when the same call is run again. */
  readonly callId: string;
  /** The run as it is now: it cannot delegate more rights than these, and a result may taint it. */
  readonly run: Permit["run"];
}

export interface SessionsToolsOptions {
  /** Carries a request out and describes the outcome in words. Its errors are told to the model. */
  readonly carryOut: (request: SessionsRequest, call: SessionsCall) => Promise<string>;
}

/** A sub-agent's id is a word; the key of any other session has parts. */
export function isOtherSession(session: string): boolean {
  return session.includes(":");
}

const sessionId = z
  .string()
  .min(1)
  .max(500)
  .describe("A sub-agent's id, or the key of another conversation from sessions_list");
const words = z.string().min(1).max(20_000);

/** `sessions_spawn`, `sessions_send`, `sessions_list`, `sessions_history`: work in other sessions. */
export function createSessionsTools({ carryOut }: SessionsToolsOptions): readonly ToolDefinition[] {
  const carriedOut = async (
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
        "Give a task to a sub-agent, which works in parallel with your tools and knows nothing but `task`, so include everything it needs. Its result arrives later as a message; do not wait or check for it.",
      inputSchema: z.object({
        task: words,
        label: z.string().min(1).max(60).optional().describe("A few words"),
        tools: z
          .array(z.string().min(1).max(100))
          .max(50)
          .optional()
          .describe("Tools it may use, if not all of yours"),
      }),
      effects: "keyed",
      run: ({ id, args }, _context, permit) => carriedOut({ action: "spawn", ...args }, id, permit),
    }),
    defineTool({
      name: "sessions_send",
      description:
        "Give one of your sub-agents another task: it remembers what it did, and its result arrives as a message. Or say something to the agent of another conversation, which answers there.",
      inputSchema: z.object({ session: sessionId, message: words }),
      effects: "keyed",
      claims: ({ session }) =>
        isOtherSession(session) ? [{ kind: "message-elsewhere", detail: session }] : [],
      run: ({ id, args }, _context, permit) => carriedOut({ action: "send", ...args }, id, permit),
    }),
    defineTool({
      name: "sessions_list",
      description:
        "List your sub-agents and their progress; with `others`, also other conversations you can reach.",
      inputSchema: z.object({ others: z.boolean().optional() }),
      effects: "none",
      claims: ({ others }) => (others === true ? [{ kind: "read-elsewhere", detail: "their list" }] : []),
      run: ({ id, args: { others = false } }, _context, permit) =>
        carriedOut({ action: "list", others }, id, permit),
    }),
    defineTool({
      name: "sessions_history",
      description:
        "Read what was said and done in the session of one of your sub-agents, or in another conversation: the newest messages, oldest first.",
      inputSchema: z.object({ session: sessionId, limit: z.int().min(1).max(50).optional() }),
      effects: "none",
      claims: ({ session }) => (isOtherSession(session) ? [{ kind: "read-elsewhere", detail: session }] : []),
      run: ({ id, args: { session, limit = 10 } }, _context, permit) =>
        carriedOut({ action: "history", session, limit }, id, permit),
    }),
  ];
}
