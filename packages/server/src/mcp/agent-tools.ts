import { randomUUID } from "node:crypto";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { defaultAgent } from "@signalbox/protocol";
import { z } from "zod";
import { ONE_OFF_PREFIX, type Outcome } from "../service.ts";
import type { McpToolContext } from "./tool-context.ts";
import { type McpToolText, runTool, toToolError, toToolText } from "./tool-text.ts";

/** Maximum length of a message, in UTF-16 code units. */
const MAX_TEXT = 100_000;
/** Interval of progress reports, which keep clients from giving up, in milliseconds. */
const PROGRESS_MS = 5_000;

/** Adds `list_agents`, `ask_agent` and `search_memory`. */
export function addAgentTools(server: McpServer, context: McpToolContext): void {
  const { service, scoped, may } = context;
  if (may("chat") || may("read"))
    server.registerTool(
      "list_agents",
      { description: "Lists the agents of the gateway.", annotations: { readOnlyHint: true } },
      async () =>
        toToolText(
          scoped
            .agents()
            .map(({ id, name, model, default: isDefault }) =>
              [id, name, model, ...(isDefault === true ? ["default"] : [])].join(" · "),
            )
            .join("\n"),
        ),
    );
  if (may("chat"))
    server.registerTool(
      "ask_agent",
      {
        description:
          "Sends a message to an agent and returns its answer. The agent may use its tools, and may wait for a person's approval.",
        inputSchema: {
          message: z.string().min(1).max(MAX_TEXT).describe("The message."),
          agent: z.string().max(64).optional().describe("Id of the agent. Default: the default agent."),
          conversation: z
            .string()
            .min(1)
            .max(200)
            .optional()
            .describe(
              "Name of a conversation to continue. Without it, the agent remembers nothing of the message.",
            ),
        },
        annotations: { openWorldHint: true },
      },
      (request, { _meta: meta, sendNotification }) => {
        const progressToken = meta?.progressToken;
        let progress = 0;
        const report =
          progressToken === undefined
            ? undefined
            : () =>
                void sendNotification({
                  method: "notifications/progress",
                  params: { progressToken, progress: ++progress, message: "The agent is working." },
                }).catch(() => {});
        return askAgent(context, request, report);
      },
    );
  const { admin } = service;
  if (may("read") && admin !== undefined)
    server.registerTool(
      "search_memory",
      {
        description: "Searches the notes and conversations that an agent remembers, of all people.",
        inputSchema: {
          query: z.string().min(1).max(1_000).describe("The words to search for."),
          agent: z.string().max(64).optional().describe("Id of the agent. Default: the default agent."),
          limit: z.int().min(1).max(50).default(10).describe("Maximum number of results."),
        },
        annotations: { readOnlyHint: true },
      },
      ({ query, agent, limit }) =>
        runTool(async () => {
          const id = agent ?? defaultAgent(service.agents())?.id ?? "";
          const { summary, entries } = await admin.searchMemory(id, { query, offset: 0, limit });
          const found = entries.map(({ source, author, at, text }) => {
            const when = at === undefined ? [] : [new Date(at).toISOString()];
            return `[${[source, ...when, author ?? []].flat().join(", ")}]\n${text}`;
          });
          return [summary, ...found].join("\n\n");
        }),
    );
}

interface AgentRequest {
  readonly message: string;
  readonly agent?: string | undefined;
  readonly conversation?: string | undefined;
}

async function askAgent(
  { scoped, principal, signal }: McpToolContext,
  request: AgentRequest,
  report: (() => void) | undefined,
): Promise<McpToolText> {
  const agent = request.agent ?? defaultAgent(scoped.agents())?.id;
  if (agent === undefined) return toToolError("The gateway has no agents.");
  const id = `mcp-${randomUUID()}`;
  const isOneOff = request.conversation === undefined;
  const conversation = isOneOff ? `${ONE_OFF_PREFIX}${id}` : `user:${request.conversation}`;
  const submitted = await scoped.submit({
    channel: "api",
    agent,
    conversation,
    id,
    text: request.message,
    verbatim: true,
    // The client is a program that another model may control, with texts from anywhere.
    from: `MCP client ${principal.name}`,
  });
  if (submitted.kind === "refused") return toToolError(submitted.message);
  const timer = report === undefined ? undefined : setInterval(report, PROGRESS_MS);
  // The answer could not be read later.
  const onAbort = (): void => {
    if (isOneOff) scoped.abort("api", agent, conversation).catch(() => {});
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return toAnswer(await submitted.done);
  } finally {
    signal.removeEventListener("abort", onAbort);
    clearInterval(timer);
  }
}

function toAnswer({ state, text, error }: Outcome): McpToolText {
  if (state === "replied" || state === "silent") return toToolText(text === "" ? "[no answer]" : text);
  return toToolError(error?.message ?? `The message was not answered: ${state}.`);
}
