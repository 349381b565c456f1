import { z } from "zod";
import { askMode, domains, id, names, webAddress } from "./values.ts";

const webSearchSchema = z.discriminatedUnion("engine", [
  z.strictObject({
    engine: z.enum(["brave", "tavily"]),
    apiKey: z.string().min(1),
    url: webAddress.exactOptional(),
  }),
  z.strictObject({ engine: z.literal("searxng"), url: webAddress }),
]);

export const webSchema = z
  .strictObject({
    search: webSearchSchema
      .optional()
      .describe("The service behind `web_search`; without it the tool does not exist."),
    allow: z
      .array(z.string().regex(/^[^\s/@]+:\d{1,5}$/, "must be host:port"))
      .default([])
      .describe("Hosts that may be fetched from although they are not public, as `host:port`."),
    timeoutMs: z
      .int()
      .positive()
      .max(120_000)
      .default(15_000)
      .describe("Milliseconds for one page or file, including redirects."),
  })
  .describe("What the gateway fetches from the web: by `web_fetch`, for links, and for attachments.");

const execSchema = z
  .strictObject({
    sandbox: z
      .enum(["bubblewrap", "none", "off"])
      .default("bubblewrap")
      .describe("`none` runs commands without a sandbox, at your own risk; `off` runs no commands."),
    timeoutMs: z.int().positive().default(60_000).describe("Time limit of one command, in milliseconds."),
    domains: domains
      .default([])
      .describe(
        "Hosts that commands in the sandbox may reach, through a proxy, if policy allows it: `example.org`, `*.example.org`, `example.org:8443`.",
      ),
    ask: askMode
      .default("never")
      .describe("When a command needs an owner's approval, in addition to the policy."),
    rules: names
      .default([])
      .describe(
        "Commands that need no approval in the mode `unlisted`: words separated by spaces, `*` for any word, `**` at the end for any further ones. `git log **` covers `git log --oneline`, but nothing that expands, redirects or joins other commands.",
      ),
  })
  .describe("Commands that agents run.");

const sessionsSchema = z
  .strictObject({
    visibility: z
      .enum(["tree", "agent", "all"])
      .default("tree")
      .describe(
        "What `sessions_list`, `sessions_history` and `sessions_send` reach besides an agent's own sub-agents: `tree` nothing, `agent` its other conversations, `all` also those of the agents in `agents`.",
      ),
    agents: names
      .default([])
      .describe("Agents that reach each other's conversations if `visibility` is `all`."),
  })
  .describe("Which conversations agents reach besides their own.");

export const toolsSchema = z
  .strictObject({
    packages: names
      .default([])
      .describe(
        "npm packages, or folders of them, that export tools as `default` or `tools`. The home is searched first.",
      ),
    image: z
      .strictObject({ model: z.string().min(1).describe("`provider/model` of a model that takes pictures.") })
      .optional()
      .describe(
        "Which model looks at pictures for other models, by the tool `image`; without it the tool does not exist.",
      ),
    sessions: sessionsSchema.prefault({}),
    exec: execSchema.prefault({}),
    web: webSchema.prefault({}),
  })
  .describe("Settings of the built-in tools, and where other tools come from.");

const milliseconds = z.int().positive().max(3_600_000);

export const mcpServerSchema = z
  .strictObject({
    command: z.string().min(1).exactOptional().describe("The program to start."),
    args: z.array(z.string()).exactOptional(),
    env: z
      .record(z.string(), z.string())
      .exactOptional()
      .describe("Its environment, in addition to `PATH`, `HOME` and the like."),
    cwd: z.string().min(1).exactOptional().describe("Its working folder."),
    url: webAddress.exactOptional().describe("The address, if it is not a program."),
    headers: z.record(z.string(), z.string()).exactOptional().describe("Sent with each request."),
    startMs: milliseconds.default(30_000).describe("Milliseconds it may take to start and list its tools."),
    callMs: milliseconds.default(60_000).describe("Milliseconds for one call."),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    message: "needs exactly one of command and url",
  })
  .describe(
    "An MCP server: a program (`command`) or an address (`url`). It starts when an agent that names its tools first runs, with all rights of the gateway's user.",
  );

/** Where code of an operator's can hang, in the order of a message. */
const HOOK_POINTS = [
  "message_received",
  "before_model_resolve",
  "before_prompt_build",
  "run_start",
  "turn_start",
  "before_tool_call",
  "after_tool_call",
  "turn_end",
  "compaction_start",
  "compaction_end",
  "before_reply",
  "message_sent",
  "run_end",
] as const;

export const pointHookSchema = z
  .strictObject({
    at: z.enum(HOOK_POINTS).describe("The point of a message's way; docs/hooks.md lists them."),
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("The address that gets the payload and answers."),
    module: z
      .string()
      .min(1)
      .optional()
      .describe("Package, or its folder, whose default export is the hook."),
    secret: z.string().min(16).optional().describe("Signs the requests."),
    timeoutMs: z
      .int()
      .positive()
      .max(60_000)
      .optional()
      .describe("The hook's time limit. Default: 5,000 to observe, otherwise 2,000."),
  })
  .refine(({ url, module }) => (url === undefined) !== (module === undefined), {
    message: "needs exactly one of url and module",
  })
  .describe("Your own code at a point of a message's way.");

export const hookSchema = z
  .strictObject({
    agent: id.optional().describe("The agent. Default: the one that answers when no binding matches."),
    session: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe("Conversation, with `{{path.in.the.body}}`. Default: the hook's name."),
    text: z
      .string()
      .min(1)
      .optional()
      .describe("The text for the agent, with `{{path.in.the.body}}`. Default: the whole body."),
    secret: z
      .string()
      .min(16)
      .optional()
      .describe("The bearer token that the caller presents. Without it only an owner's token counts."),
  })
  .describe("An incoming webhook: a program posts to `/hooks/<name>`, and an agent acts on it.");
