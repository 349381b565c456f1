import { z } from "zod";
import { modelRef, thinkingLevel } from "./models.ts";
import { askMode, domains, id, names, timeZone } from "./values.ts";

const allowDeny = z.strictObject({ allow: names.optional(), deny: names.optional() });

/** A rule of `agents.*.tools` for some runs alone: what they may use, of what the agent may. */
const toolRule = z.strictObject({ allow: names.exactOptional(), deny: names.exactOptional() });

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time of day, for instance 08:30");

const heartbeatSchema = z
  .strictObject({
    enabled: z.boolean().optional().describe("`false` for an agent that is to have none. Default: `true`."),
    every: z
      .string()
      .regex(/^(?=\d)([1-9]\d?h ?)?([1-9]\d{0,2}m)?$/, "must be a time span, for instance 30m, 2h or 1h 30m")
      .optional()
      .describe("Default: `30m`."),
    activeHours: z
      .strictObject({
        from: timeOfDay,
        to: timeOfDay,
        zone: timeZone.optional().describe("Default: the zone of the machine."),
      })
      .refine(({ from, to }) => from !== to, { path: ["to"], message: "must be another time than from" })
      .optional()
      .describe("Outside of these hours it rests. They may go past midnight. Default: it never rests."),
    to: z
      .enum(["page", "owner"])
      .optional()
      .describe(
        "Where its words go: `page`, a conversation of its own on the web page, or `owner`, the direct conversation in which an owner wrote to the agent last. Default: `page`.",
      ),
  })
  .describe(
    "When the agent goes through `HEARTBEAT.md` of its workspace by itself. Where that asks for nothing, it does not.",
  );

const toolsOfAgent = allowDeny
  .extend({
    allow: names
      .optional()
      .describe(
        "Tools by name, `group:…`, `mcp__<server>__*` or `*`. Default: `read`, `write`, `edit`, `ls`, `message`.",
      ),
    deny: names.optional().describe("The same; it wins over `allow`."),
    profile: z
      .enum(["minimal", "messaging", "coding", "full"])
      .optional()
      .describe("What agents of a kind need; `allow` adds to it."),
    roles: z
      .partialRecord(z.enum(["owner", "member", "guest", "system"]), toolRule)
      .optional()
      .describe(
        "By the role of who speaks. By default guests may read and look for files, everybody else what the agent may.",
      ),
    conversations: z
      .partialRecord(z.enum(["direct", "group", "channel", "api"]), toolRule)
      .optional()
      .describe("By the kind of conversation."),
    models: z
      .record(z.string(), toolRule)
      .optional()
      .describe("By `provider/model`, or by `provider` for all of its models."),
    domains: domains
      .optional()
      .describe("Hosts that its commands may reach. Default: those of `tools.exec.domains`."),
    ask: z
      .record(z.string(), askMode)
      .optional()
      .describe(
        "When an owner is asked about a call, by the name of the tool. Default: `tools.exec.ask` for `exec`, `never` for others.",
      ),
  })
  .optional()
  .describe("What it may use, of what policy lets anybody use.");

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
      .describe(
        "How far below a conversation of people they may be. Default: 1, so that they have none of their own.",
      ),
    maxAtOnce: z
      .int()
      .positive()
      .max(50)
      .optional()
      .describe("Tasks of one conversation that have no end yet. Default: 4."),
    maxTasks: z
      .int()
      .positive()
      .max(1_000)
      .optional()
      .describe("Tasks that one message may lead to, over all of them. Default: 20."),
    limits: limits
      .optional()
      .describe("What one run of theirs may use, where that is less than the agent's own."),
  })
  .describe("How much an agent whose tools name `sessions_spawn` may give to sub-agents.");

const agentFields = {
  model: modelRef.optional().describe("As `provider/model`. Default: the first that has a key."),
  fallbacks: z
    .array(modelRef)
    .optional()
    .describe("Models that are asked in this order where the first one fails."),
  thinking: thinkingLevel.optional().describe("How much the model thinks before it answers."),
  systemPrompt: z.string().optional().describe("What stands in its instructions besides its own files."),
  language: z
    .enum(["en", "zh"])
    .optional()
    .describe(
      "Of the files that its workspace begins with, and of what the gateway itself says in its conversations. Default: of files that of the machine (`LANG`), in conversations that of the message (of a command: that of what its sender wrote before).",
    ),
  maxOutputTokens: z.int().positive().optional().describe("Of one answer."),
  historyTurns: z
    .int()
    .positive()
    .optional()
    .describe(
      "How many of the last turns of a conversation the model is sent; older ones leave the request a quarter of that at a time. Default: all that fit its window.",
    ),
  tools: toolsOfAgent,
  skills: allowDeny.optional().describe("Which skills it can use, by name. Default: all that there are."),
  limits: limits.optional().describe("What one run may use."),
  subagents: subAgentsSchema.optional(),
  heartbeat: heartbeatSchema.optional(),
};

export const agentDefaultsSchema = z
  .strictObject(agentFields)
  .describe("What an agent has where its own entry says nothing.");

export const agentSchema = z
  .strictObject({
    id: id.describe("A short name, as bindings use it."),
    name: z.string().min(1).optional().describe("As people are shown it."),
    default: z
      .boolean()
      .optional()
      .describe("The agent that answers where no binding matches; the first listed where none says so."),
    workspaceDir: z.string().min(1).optional().describe("Default: `workspaces/<id>` of the home."),
    ...agentFields,
  })
  .describe("One agent. Without any entry there is one, `main`.");

export const bindingSchema = z
  .strictObject({
    agent: id.describe("Who answers."),
    match: z.strictObject({
      channel: z.string().min(1),
      account: z.string().min(1).optional().describe("`*` stands for any text."),
      peer: z
        .strictObject({ kind: z.enum(["direct", "group", "channel"]), id: z.string().min(1) })
        .optional()
        .describe("A person or a group by the platform's id. One that names a person lets that person in."),
      guildId: z.string().min(1).optional().describe("A server of Discord."),
      roles: names.optional().describe("Roles on that server, by id."),
      teamId: z.string().min(1).optional().describe("A workspace of Slack, or a tenant of Feishu."),
    }),
  })
  .describe(
    "Gives messages to an agent: all given fields of `match` must hold, the most specific kind decides, then the order. Default: the default agent answers.",
  );
