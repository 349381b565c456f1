import { reasonOf, type ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "./define.ts";
import { failure, success } from "./result.ts";
import type { Permit } from "./types.ts";

/** What the model asks of the host's sub-agents. */
export type SessionsRequest =
  | {
      readonly action: "spawn";
      readonly task: string;
      readonly label?: string | undefined;
      /** Names, groups or profiles. Absent: all that the run has. */
      readonly tools?: readonly string[] | undefined;
    }
  | { readonly action: "send"; readonly session: string; readonly message: string }
  | { readonly action: "list" }
  | { readonly action: "history"; readonly session: string; readonly limit: number };

/** The call that asks. */
export interface SessionsCall {
  readonly sessionKey: string;
  /** The same when the same call is run again. */
  readonly callId: string;
  /** As it is now: what is given away is never more than this, and what comes back may taint it. */
  readonly run: Permit["run"];
}

export interface SessionsToolsOptions {
  /** Carries a request out, and says in words what came of it. Its errors are told to the model. */
  readonly carryOut: (request: SessionsRequest, call: SessionsCall) => Promise<string>;
}

const sessionId = z.string().min(1).max(100).describe("The id that sessions_spawn gave");
const words = z.string().min(1).max(20_000);

/** `sessions_spawn`, `sessions_send`, `sessions_list`, `sessions_history`: work that goes on in sessions of its own. */
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
        "Give a task to a sub-agent, which works beside you with your tools and knows nothing but `task`: say in it all that is needed. Its result comes to you later, as a message: do not wait or look for it.",
      inputSchema: z.object({
        task: words,
        label: z.string().min(1).max(60).optional().describe("A few words"),
        tools: z
          .array(z.string().min(1).max(100))
          .max(50)
          .optional()
          .describe("Those it may use, if not all of yours"),
      }),
      effects: "keyed",
      run: ({ id, args }, _context, permit) => carriedOut({ action: "spawn", ...args }, id, permit),
    }),
    defineTool({
      name: "sessions_send",
      description:
        "Give a sub-agent of yours a further task. It remembers what it did; its result comes as a message.",
      inputSchema: z.object({ session: sessionId, message: words }),
      effects: "keyed",
      run: ({ id, args }, _context, permit) => carriedOut({ action: "send", ...args }, id, permit),
    }),
    defineTool({
      name: "sessions_list",
      description: "Your sub-agents, and how far they are.",
      inputSchema: z.object({}),
      effects: "none",
      run: ({ id }, _context, permit) => carriedOut({ action: "list" }, id, permit),
    }),
    defineTool({
      name: "sessions_history",
      description:
        "What a sub-agent of yours was told, did and said: the newest messages, the oldest of them first.",
      inputSchema: z.object({ session: sessionId, limit: z.int().min(1).max(50).optional() }),
      effects: "none",
      run: ({ id, args: { session, limit = 10 } }, _context, permit) =>
        carriedOut({ action: "history", session, limit }, id, permit),
    }),
  ];
}
