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
      .describe("The service behind `web_search`; without it there is no such tool."),
    allow: z
      .array(z.string().regex(/^[^\s/@]+:\d{1,5}$/, "must be host:port"))
      .default([])
      .describe("Hosts that may be fetched from though they are not public, as `host:port`."),
    timeoutMs: z
      .int()
      .positive()
      .max(120_000)
      .default(15_000)
      .describe("Milliseconds for one page or file, redirects included."),
  })
  .describe("What the gateway fetches from the web: by `web_fetch`, for links, and attachments.");

const execSchema = z
  .strictObject({
    sandbox: z
      .enum(["bubblewrap", "none", "off"])
      .default("bubblewrap")
      .describe("`none` runs commands without a sandbox, at your own risk; `off` runs none."),
    timeoutMs: z.int().positive().default(60_000).describe("Of one command, in milliseconds."),
    domains: domains
      .default([])
      .describe(
        "Hosts that commands in the sandbox may reach, through a proxy, where policy lets them: `example.org`, `*.example.org`, `example.org:8443`.",
      ),
    ask: askMode
      .default("never")
      .describe("When an owner is asked about a command, beyond what policy asks about anyway."),
    rules: names
      .default([])
      .describe(
        "Commands that need no question in the mode `unlisted`: words with spaces between, `*` for any word, `**` at the end for any further ones. `git log **` covers `git log --oneline`, and nothing that expands, redirects or joins others.",
      ),
  })
  .describe("Commands of agents.");

const sessionsSchema = z
  .strictObject({
    visibility: z
      .enum(["tree", "agent", "all"])
      .default("tree")
      .describe(
        "What `sessions_list`, `sessions_history` and `sessions_send` reach besides an agent's own sub-agents: `tree` nothing, `agent` its other conversations, `all` those of the agents in `agents` too.",
      ),
    agents: names
      .default([])
      .describe("Agents that reach each other's conversations where `visibility` is `all`."),
  })
  .describe("Which conversations agents reach other than the one that they are in.");

export const toolsSchema = z
  .strictObject({
    packages: names
      .default([])
      .describe(
        "npm packages, or folders that hold one, that export tools as `default` or `tools`; looked for in the home first.",
      ),
    image: z
      .strictObject({ model: z.string().min(1).describe("`provider/model`, of one that takes pictures.") })
      .optional()
      .describe("What looks at pictures for other models, by `image`; without it there is no such tool."),
    sessions: sessionsSchema.prefault({}),
    exec: execSchema.prefault({}),
    web: webSchema.prefault({}),
  })
  .describe("Settings of the built-in tools, and where others come from.");

const milliseconds = z.int().positive().max(3_600_000);

export const mcpServerSchema = z
  .strictObject({
    command: z.string().min(1).exactOptional().describe("The program to start."),
    args: z.array(z.string()).exactOptional(),
    env: z
      .record(z.string(), z.string())
      .exactOptional()
      .describe("All that it finds in its environment besides `PATH`, `HOME` and the like."),
    cwd: z.string().min(1).exactOptional().describe("Where it is started."),
    url: webAddress.exactOptional().describe("The address, where it is no program."),
    headers: z.record(z.string(), z.string()).exactOptional().describe("Sent with each request."),
    startMs: milliseconds.default(30_000).describe("Milliseconds to start and to list its tools."),
    callMs: milliseconds.default(60_000).describe("Milliseconds of one call."),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    message: "needs exactly one of command and url",
  })
  .describe(
    "One MCP server: a program (`command`) or an address (`url`). It is started when an agent that names its tools first runs, with all rights of the gateway's user.",
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
    at: z.enum(HOOK_POINTS).describe("The point of a message's way; docs/hooks.md says what each is told."),
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("Where what happens is posted, and which answers what becomes of it."),
    module: z
      .string()
      .min(1)
      .optional()
      .describe("A package, or the folder of one, whose default export is the hook."),
    secret: z.string().min(16).optional().describe("Signs what is posted."),
    timeoutMs: z
      .int()
      .positive()
      .max(60_000)
      .optional()
      .describe("Default: 5,000 where it only observes, else 2,000."),
  })
  .refine(({ url, module }) => (url === undefined) !== (module === undefined), {
    message: "needs exactly one of url and module",
  })
  .describe("Code of yours that is run at a point of a message's way.");

export const hookSchema = z
  .strictObject({
    agent: id.optional().describe("Default: the agent that answers where no binding matches."),
    session: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe("The conversation, with `{{path.in.the.body}}`. Default: the hook's name."),
    text: z
      .string()
      .min(1)
      .optional()
      .describe("What the agent is told, with `{{path.in.the.body}}`. Default: the whole body."),
    secret: z
      .string()
      .min(16)
      .optional()
      .describe("What the caller presents as bearer token; without it only the gateway's own token counts."),
  })
  .describe("What a program that posts to `/hooks/<name>` has an agent do.");
