import { z } from "zod";
import { askMode, domains, id, names, webAddress } from "./values.ts";

const webSearchSchema = z.discriminatedUnion("engine", [
  z.strictObject({
    engine: z.enum(["brave", "tavily"]),
    apiKey: z.string().min(1),
    url: webAddress.optional(),
  }),
  z.strictObject({ engine: z.literal("searxng"), url: webAddress }),
]);

export const webSchema = z
  .strictObject({
    search: webSearchSchema
      .optional()
      .describe("The search service that `web_search` uses. Without it, the tool is not available."),
    allow: z
      .array(z.string().regex(/^[^\s/@]+:\d{1,5}$/, "must be host:port"))
      .default([])
      .describe("Private hosts, as `host:port`, from which the gateway may fetch."),
    timeoutMs: z
      .int()
      .positive()
      .max(120_000)
      .default(15_000)
      .describe("Timeout for each page or file, including redirects, in milliseconds."),
  })
  .describe("Web requests of the gateway for `web_fetch`, links and attachments.");

const execSchema = z
  .strictObject({
    sandbox: z
      .enum(["bubblewrap", "none", "off"])
      .default("bubblewrap")
      .describe("`none` runs commands without a sandbox, at your own risk; `off` runs no commands."),
    timeoutMs: z.int().positive().default(60_000).describe("Timeout for each command, in milliseconds."),
    domains: domains
      .default([])
      .describe(
        "Hosts that commands in the sandbox may reach through a proxy, if the policy allows it: `example.org`, `*.example.org`, `example.org:8443`.",
      ),
    ask: askMode
      .default("never")
      .describe("When a command needs an owner's approval, in addition to the policy."),
    rules: names
      .default([])
      .describe(
        "Commands that need no approval in the mode `unlisted`: words separated by spaces, `*` for any word, `**` at the end for any further words. `git log **` covers `git log --oneline`, but no command with expansions, redirections or other commands.",
      ),
  })
  .describe("Commands that agents run.");

const sessionsSchema = z
  .strictObject({
    visibility: z
      .enum(["tree", "agent", "all"])
      .default("tree")
      .describe(
        "Conversations that `sessions_list`, `sessions_history` and `sessions_send` can access besides an agent's own sub-agents: `tree` none, `agent` the agent's other ones, `all` also those of the agents in `agents`.",
      ),
    agents: names
      .default([])
      .describe("Agents that can access each other's conversations if `visibility` is `all`."),
  })
  .describe("Access of agents to other conversations.");

const browserSchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe("Whether agents may get the `browser_*` tools. The tools have to be in their `tools.allow`."),
    executable: z
      .string()
      .min(1)
      .optional()
      .describe("Path of Chromium or Google Chrome. Default: the one that is installed on the machine."),
    package: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Folder of the npm package `@playwright/mcp`. Default: the one that is installed in the home or next to the gateway.",
      ),
    maxBrowsers: z
      .int()
      .min(1)
      .max(32)
      .default(2)
      .describe("Maximum number of browsers at the same time. Each agent has its own."),
  })
  .describe("Browsers that agents operate.");

export const toolsSchema = z
  .strictObject({
    packages: names
      .default([])
      .describe(
        "npm packages, or folders of them, that export tools as `default` or `tools`. The home is searched first.",
      ),
    image: z
      .strictObject({ model: z.string().min(1).describe("`provider/model` of a model that accepts images.") })
      .optional()
      .describe(
        "The model that the tool `image` uses to describe images for other models. Without it, the tool is not available.",
      ),
    imageGeneration: z
      .strictObject({
        model: z
          .string()
          .regex(/^[^/]+\/.+$/, "must be provider/model")
          .describe(
            "`provider/model` of a model that generates images: `openai/…`, `google/…` or one of another provider with OpenAI's images API.",
          ),
        price: z
          .number()
          .nonnegative()
          .max(1_000)
          .optional()
          .describe(
            "Price of each image in US dollars, for budgets. Default: by the tokens that the provider reports and the prices of the model's entry.",
          ),
      })
      .optional()
      .describe("The model that the tool `generate_image` uses. Without it, the tool is not available."),
    sessions: sessionsSchema.prefault({}),
    exec: execSchema.prefault({}),
    browser: browserSchema.prefault({}),
    web: webSchema.prefault({}),
  })
  .describe("Settings of the built-in tools, and packages with other tools.");

const milliseconds = z.int().positive().max(3_600_000);

const oauthSchema = z
  .strictObject({
    clientId: z
      .string()
      .min(1)
      .optional()
      .describe("The id of a client that you registered by hand. By default, the gateway registers itself."),
    clientSecret: z.string().min(1).optional().describe("The secret of that client. Needs `issuer`."),
    issuer: webAddress
      .optional()
      .describe("The only authorization server that is accepted. By default, the server names it."),
    scope: z
      .string()
      .min(1)
      .max(2_000)
      .optional()
      .describe("The scopes to ask for, separated by spaces. By default, the server names them."),
  })
  .refine(({ clientSecret, clientId, issuer }) => clientSecret === undefined || (clientId && issuer), {
    message: "needs clientId and issuer, so that the secret is sent to no other authorization server",
    path: ["clientSecret"],
  })
  .describe("Sign-in with OAuth at a server that has an address: `signalbox mcp login <name>`.");

export const mcpServerSchema = z
  .strictObject({
    command: z.string().min(1).optional().describe("The program to start."),
    args: z.array(z.string()).optional(),
    env: z
      .record(z.string(), z.string())
      .optional()
      .describe("Its environment variables, in addition to `PATH`, `HOME` and similar ones."),
    cwd: z.string().min(1).optional().describe("Its working directory."),
    url: webAddress.optional().describe("Its address, if it is not a program."),
    headers: z
      .record(z.string(), z.string())
      .optional()
      .describe("Sent with each request. With `Authorization`, no sign-in is used."),
    oauth: oauthSchema.optional(),
    startMs: milliseconds
      .default(30_000)
      .describe("Timeout for starting the server and listing its tools, in milliseconds."),
    callMs: milliseconds
      .default(60_000)
      .describe(
        "Timeout for each call without progress, in milliseconds. A call that reports progress gets at most ten times as long.",
      ),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    message: "needs exactly one of command and url",
  })
  .refine(({ url, oauth }) => oauth === undefined || url !== undefined, {
    message: "works only with url",
    path: ["oauth"],
  })
  .describe(
    "An MCP server: a program (`command`) or an address (`url`). The gateway starts it with all permissions of its own user, when an agent that uses its tools runs for the first time.",
  );

/** Points of the message pipeline at which hooks run, in order. */
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
    at: z.enum(HOOK_POINTS).describe("The point of the message pipeline; docs/hooks.md lists them."),
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("The URL to which the gateway posts the payload, and whose response it evaluates."),
    module: z
      .string()
      .min(1)
      .optional()
      .describe("A package, or its folder, whose default export is the hook."),
    secret: z.string().min(16).optional().describe("Signs the requests."),
    timeoutMs: z
      .int()
      .positive()
      .max(60_000)
      .optional()
      .describe(
        "The hook's timeout in milliseconds. Default: 5,000 for a hook that only observes, otherwise 2,000.",
      ),
  })
  .refine(({ url, module }) => (url === undefined) !== (module === undefined), {
    message: "needs exactly one of url and module",
  })
  .describe("Runs your own code at a point of the message pipeline.");

export const hookSchema = z
  .strictObject({
    agent: id.optional().describe("The agent. Default: the one that answers if no binding matches."),
    session: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe("The conversation; may contain `{{path.in.the.body}}`. Default: the hook's name."),
    text: z
      .string()
      .min(1)
      .optional()
      .describe("The text for the agent; may contain `{{path.in.the.body}}`. Default: the whole body."),
    secret: z
      .string()
      .min(16)
      .optional()
      .describe("The bearer token that the caller sends. Without it, only an owner's token is accepted."),
  })
  .describe("An incoming webhook: a program posts to `/hooks/<name>`, and an agent acts on it.");
