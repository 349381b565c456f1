import { z } from "zod";
import { modelRef, thinkingLevel } from "./models.ts";
import { askMode, domains, id, names, timeZone, toolRule } from "./values.ts";

const allowDeny = z.strictObject({ allow: names.optional(), deny: names.optional() });

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time of day, such as 08:30");
const endOfHours = z
  .string()
  .regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, "must be a time of day, such as 22:30, or 24:00");

const heartbeatSchema = z
  .strictObject({
    enabled: z.boolean().optional().describe("`false` turns it off. Default: `true`."),
    every: z
      .string()
      .regex(/^(?=\d)([1-9]\d?h ?)?([1-9]\d{0,2}m)?$/, "must be a duration, such as 30m, 2h or 1h 30m")
      .optional()
      .describe("Default: `30m`."),
    activeHours: z
      .strictObject({
        from: timeOfDay,
        to: endOfHours,
        zone: timeZone.optional().describe("Default: the machine's time zone."),
      })
      .refine(({ from, to }) => from !== to, { path: ["to"], message: "must differ from `from`" })
      .optional()
      .describe(
        "The heartbeat pauses outside these hours. They may span midnight. Default: it never pauses.",
      ),
    to: z
      .enum(["page", "owner"])
      .optional()
      .describe(
        "Conversation that receives the agent's message: `page` is its own conversation on the web page; `owner` is the direct conversation in which an owner last wrote to the agent. Default: `page`.",
      ),
  })
  .describe(
    "The schedule on which the agent processes `HEARTBEAT.md` in its workspace without being asked. A file without tasks causes no heartbeat.",
  );

const toolsOfAgent = allowDeny
  .extend({
    allow: names
      .optional()
      .describe(
        "Tools by name, `group:…`, `mcp__<server>__*` or `*`. Default: `read`, `write`, `edit`, `ls`, `message`, `group:memory`.",
      ),
    deny: names.optional().describe("Tools that it may not use, even if `allow` contains them."),
    profile: z
      .enum(["minimal", "messaging", "coding", "full"])
      .optional()
      .describe("A predefined set of tools; `allow` adds to it."),
    roles: z
      .partialRecord(z.enum(["owner", "member", "guest", "system"]), toolRule)
      .optional()
      .describe(
        "Rules by the sender's role. By default guests may read and search files, and everyone else may use all of the agent's tools.",
      ),
    conversations: z
      .partialRecord(z.enum(["direct", "group", "channel", "api"]), toolRule)
      .optional()
      .describe("Rules by type of conversation."),
    models: z
      .record(z.string(), toolRule)
      .optional()
      .describe("Rules by `provider/model`, or by `provider` for all of its models."),
    domains: domains.optional().describe("Hosts that its commands may reach. Default: `tools.exec.domains`."),
    ask: z
      .record(z.string(), askMode)
      .optional()
      .describe(
        "When a call needs an owner's approval, by tool name. Default: `tools.exec.ask` for `exec`, `never` for others.",
      ),
  })
  .optional()
  .describe("The tools it may use, within the policy.");

const limits = z.strictObject({
  turns: z.int().positive().optional().describe("Default: 200."),
  toolCalls: z.int().positive().optional().describe("Default: 1,000."),
  wallMs: z.int().positive().optional().describe("Milliseconds."),
  outputTokens: z.int().positive().optional(),
  costMicros: z.int().positive().optional().describe("Millionths of a US dollar."),
});

const subAgentsSchema = z
  .strictObject({
    maxDepth: z
      .int()
      .min(0)
      .max(5)
      .optional()
      .describe("Maximum nesting depth of sub-agents. Default: 1, so a sub-agent cannot start others."),
    maxAtOnce: z
      .int()
      .positive()
      .max(50)
      .optional()
      .describe("Maximum number of unfinished tasks per conversation. Default: 4."),
    maxTasks: z
      .int()
      .positive()
      .max(1_000)
      .optional()
      .describe("Maximum number of tasks that one message may start. Default: 20."),
    limits: limits
      .optional()
      .describe(
        "Limits for each run of a sub-agent. They apply only if they are lower than the agent's own.",
      ),
  })
  .describe("Limits on delegation to sub-agents, for agents with `sessions_spawn`.");

const agentFields = {
  model: modelRef
    .optional()
    .describe(
      "Written `provider/model`. Default: the first model with a key or, without any key, the offline demo model.",
    ),
  fallbacks: z.array(modelRef).optional().describe("Models to try, in this order, if the first one fails."),
  thinking: thinkingLevel.optional().describe("The model's thinking level."),
  systemPrompt: z
    .string()
    .optional()
    .describe("Additional instructions, besides the files in its workspace."),
  language: z
    .enum(["en", "zh"])
    .optional()
    .describe(
      "The language of the initial files in its workspace and of the gateway's own texts in its conversations. Default: for files, the machine's (`LANG`); in conversations, the language of the message (for a command, that of the sender's earlier messages).",
    ),
  speech: z
    .enum(["never", "voice", "always"])
    .optional()
    .describe(
      "Which of its answers are also sent as a voice message: none, those to a voice message, or all. Needs `media.speech`. Default: `never`.",
    ),
  maxOutputTokens: z.int().positive().optional().describe("Maximum number of output tokens per answer."),
  historyTurns: z
    .int()
    .positive()
    .optional()
    .describe(
      "Maximum number of recent turns that are sent to the model. Older turns are dropped in steps of a quarter of that number. Default: all that fit into the context window.",
    ),
  tools: toolsOfAgent,
  skills: allowDeny.optional().describe("The skills it can use, by name. Default: all."),
  limits: limits.optional().describe("Limits for each run."),
  subagents: subAgentsSchema.optional(),
  heartbeat: heartbeatSchema.optional(),
};

export const agentDefaultsSchema = z.strictObject(agentFields).describe("Default settings for all agents.");

export const agentSchema = z
  .strictObject({
    id: id.describe("A short name, for bindings."),
    name: z.string().min(1).optional().describe("The name that people see."),
    default: z
      .boolean()
      .optional()
      .describe(
        "Whether it answers messages that match no binding. If no agent is the default, the first in the list answers.",
      ),
    workspaceDir: z.string().min(1).optional().describe("Default: `workspaces/<id>` in the home."),
    shards: z
      .int()
      .min(1)
      .max(64)
      .optional()
      .describe(
        "Splits the sessions of the agent into this number of shards. Several gateways that share a store run them at the same time. Each shard has its own workspace, the folder `shard-<number>` in the workspace of the agent, and its own memory. Default: 1, which needs no folder.",
      ),
    nodes: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        "Labels of gateways. Only a gateway with one of them (`gateway.labels`, `gateway.node`) runs the agent. Default: any gateway.",
      ),
    ...agentFields,
  })
  .describe("One agent. If the list is empty, there is one agent called `main`.");

export const bindingSchema = z
  .strictObject({
    agent: id.describe("The agent that answers."),
    match: z.strictObject({
      channel: z.string().min(1),
      account: z.string().min(1).optional().describe("The account; `*` matches any text."),
      peer: z
        .strictObject({ kind: z.enum(["direct", "group", "channel"]), id: z.string().min(1) })
        .optional()
        .describe(
          "A person or a group, by the platform's id. A binding that names a person lets that person in.",
        ),
      guildId: z.string().min(1).optional().describe("A Discord server."),
      roles: names.optional().describe("Roles on that server, by id."),
      teamId: z.string().min(1).optional().describe("A Slack workspace, or a Feishu tenant."),
    }),
  })
  .describe(
    "Routes messages to an agent. All fields of `match` must match; the most specific binding wins, then the first. If none matches, the default agent answers.",
  );
