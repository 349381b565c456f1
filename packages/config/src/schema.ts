import { z } from "zod";

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const id = z
  .string()
  .regex(ID, "must be 1 to 64 letters, digits, '.', '_' or '-', and start with a letter or digit");

const names = z.array(z.string().min(1));
const allowDeny = z.strictObject({ allow: names.optional(), deny: names.optional() });
const thinkingLevel = z.enum(["off", "minimal", "low", "medium", "high", "max"]);
const modelRef = z
  .string()
  .regex(/^[^/\s]+\/\S+$/, "must be written provider/model, for instance anthropic/claude-sonnet-4-6");

/** `gateway`: where the service listens and who may talk to it. */
export const gatewaySchema = z.strictObject({
  host: z.string().min(1).default("127.0.0.1"),
  /** 0 takes any free port. */
  port: z.int().min(0).max(65_535).default(4747),
  /** Names under which a reverse proxy passes requests on, without port; addresses and the loopback need no entry. */
  allowedHosts: z
    .array(z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/, "must be a host name without port"))
    .default([]),
  auth: z.strictObject({ token: z.string().min(16).optional() }).default({}),
  /** Largest number of accepted but unfinished messages; beyond it platforms are refused. */
  inboxLimit: z.int().min(1).default(10_000),
  /** How long a stop waits for runs to reach a committed step, in milliseconds. */
  shutdownMs: z.int().min(0).default(30_000),
  /** Runs at the same time, over all sessions. */
  maxRuns: z.int().min(1).default(64),
  logLevel: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
});

/** One entry of `models.providers.<id>.models`. */
const modelSchema = z.strictObject({
  id: z.string().min(1),
  name: z.string().optional(),
  contextWindow: z.int().positive().optional(),
  maxOutputTokens: z.int().positive().optional(),
  input: z.array(z.enum(["text", "image", "audio", "file"])).optional(),
  thinking: z.array(thinkingLevel).optional(),
  tools: z.enum(["native", "text", "none"]).optional(),
  /** US dollars per million tokens. */
  prices: z
    .strictObject({
      input: z.number().nonnegative(),
      output: z.number().nonnegative(),
      cacheRead: z.number().nonnegative().optional(),
      cacheWrite: z.number().nonnegative().optional(),
    })
    .optional(),
  quirks: z.record(z.string(), z.json()).optional(),
});

/** One entry of `models.providers`. */
export const providerSchema = z.strictObject({
  api: z.enum([
    "anthropic-messages",
    "openai-responses",
    "openai-chat",
    "mistral-chat",
    "google-generative",
    "demo",
  ]),
  /** One key, or several that are rotated. */
  apiKey: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).optional(),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** How long the server may be silent, in milliseconds, for instance while it loads a model; by default 55,000. */
  timeouts: z
    .strictObject({
      /** From the request to the first byte of the answer. */
      firstByteMs: z.int().positive().max(3_600_000).optional(),
      /** Between two pieces of the answer. */
      idleMs: z.int().positive().max(3_600_000).optional(),
    })
    .optional(),
  models: z.array(modelSchema).default([]),
});

/** `example.org`, `*.example.org` for all below it, `example.org:8443` for a port besides those of the web. */
const domains = z.array(z.string().regex(/^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/));

/** When an owner is asked about a call of a tool; `unlisted`: where no standing rule covers it. */
const askMode = z.enum(["always", "unlisted", "tainted", "never"]);

/** A rule of `agents.*.tools` for some runs alone: what they may use, of what the agent may. */
const toolRule = z.strictObject({ allow: names.exactOptional(), deny: names.exactOptional() });

/** A name that `Intl` knows; a wrong one would fail at each message. */
const timeZone = z
  .string()
  .refine(isTimeZone, "is not a time zone that is known; a name looks like Asia/Shanghai");

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time of day, for instance 08:30");

/** `agents.*.heartbeat`: has the agent go through `HEARTBEAT.md` of its workspace by itself. Where there is none, it does not. */
const heartbeatSchema = z.strictObject({
  /** `false`: this agent does not, though the defaults say so. */
  enabled: z.boolean().optional(),
  /** Default: 30m. */
  every: z
    .string()
    .regex(/^(?=\d)([1-9]\d?h ?)?([1-9]\d{0,2}m)?$/, "must be a time span, for instance 30m, 2h or 1h 30m")
    .optional(),
  /** Outside of these hours it rests. They may go past midnight. Default: it never rests. */
  activeHours: z
    .strictObject({
      from: timeOfDay,
      to: timeOfDay,
      /** Default: the zone of the machine. */
      zone: timeZone.optional(),
    })
    .refine(({ from, to }) => from !== to, { path: ["to"], message: "must be another time than from" })
    .optional(),
  /**
   * Where its words go: `page`, a conversation of its own on the web page, or `owner`, the direct conversation in which an
   * owner wrote to the agent last. Default: `page`.
   */
  to: z.enum(["page", "owner"]).optional(),
});

const agentFields = {
  model: modelRef.optional(),
  fallbacks: z.array(modelRef).optional(),
  thinking: thinkingLevel.optional(),
  systemPrompt: z.string().optional(),
  maxOutputTokens: z.int().positive().optional(),
  /** How many of the last turns of a conversation the model is sent; by default all that fit its window. */
  historyTurns: z.int().positive().optional(),
  tools: allowDeny
    .extend({
      /** What agents of a kind need; `allow` adds to it. */
      profile: z.enum(["minimal", "messaging", "coding", "full"]).optional(),
      /** For those who speak; by default guests may read and look for files, everybody else what the agent may. */
      roles: z.partialRecord(z.enum(["owner", "member", "guest", "system"]), toolRule).optional(),
      /** By the kind of conversation. */
      conversations: z.partialRecord(z.enum(["direct", "group", "channel", "api"]), toolRule).optional(),
      /** By `provider/model`, or by `provider` for all of its models. */
      models: z.record(z.string(), toolRule).optional(),
      /** Hosts that its commands may reach; by default those of `tools.exec.domains`. */
      domains: domains.optional(),
      /** By the name of a tool. For `exec` by default `tools.exec.ask`, for others `never`. */
      ask: z.record(z.string(), askMode).optional(),
    })
    .optional(),
  skills: allowDeny.optional(),
  limits: z
    .strictObject({
      turns: z.int().positive().optional(),
      toolCalls: z.int().positive().optional(),
      /** Milliseconds. */
      wallMs: z.int().positive().optional(),
      outputTokens: z.int().positive().optional(),
      /** Millionths of a US dollar. */
      costMicros: z.int().positive().optional(),
    })
    .optional(),
  heartbeat: heartbeatSchema.optional(),
};

/** `agents.defaults`: what an agent has where it says nothing itself. */
export const agentDefaultsSchema = z.strictObject(agentFields);

/** One entry of `agents.list`. */
export const agentSchema = z.strictObject({
  id,
  name: z.string().min(1).optional(),
  /** The agent that answers where no binding matches; the first listed where none says so. */
  default: z.boolean().optional(),
  workspaceDir: z.string().min(1).optional(),
  ...agentFields,
});

/** One entry of `bindings`. All given fields of `match` must match. */
export const bindingSchema = z.strictObject({
  agent: id,
  match: z.strictObject({
    channel: z.string().min(1),
    account: z.string().min(1).optional(),
    peer: z.strictObject({ kind: z.enum(["direct", "group", "channel"]), id: z.string().min(1) }).optional(),
    guildId: z.string().min(1).optional(),
    roles: names.optional(),
    teamId: z.string().min(1).optional(),
  }),
});

/** `channels.<channel>`; each account is checked by the channel's own schema. */
export const channelSchema = z.strictObject({
  enabled: z.boolean().default(true),
  /** The npm package of a channel that does not come with the gateway. */
  package: z.string().min(1).optional(),
  accounts: z.record(id, z.record(z.string(), z.unknown())).default({}),
});

const resetPolicy = z.discriminatedUnion("mode", [
  z.strictObject({ mode: z.literal("none") }),
  z.strictObject({
    mode: z.literal("daily"),
    hour: z.int().min(0).max(23).default(4),
    timeZone: timeZone.optional(),
  }),
  z.strictObject({ mode: z.literal("idle"), minutes: z.int().positive() }),
]);

/** `session`: whose messages share a conversation, and how messages queue. */
export const sessionSchema = z.strictObject({
  dmScope: z
    .enum(["main", "per-peer", "per-channel-peer", "per-account-channel-peer"])
    .default("per-channel-peer"),
  identityLinks: z.record(z.string(), names).default({}),
  queue: z
    .strictObject({
      mode: z.enum(["steer", "followup", "collect", "interrupt"]).default("steer"),
      /** Milliseconds without a new message before a run starts; at the latest after five times as long or 10 s, whichever is less. */
      debounceMs: z.int().min(0).default(0),
      /** Messages waiting in one session before `drop` applies, in every mode. */
      cap: z.int().positive().default(20),
      drop: z.enum(["summarise", "old", "new"]).default("summarise"),
    })
    .prefault({}),
  reset: z
    .strictObject({
      default: resetPolicy.default({ mode: "none" }),
      direct: resetPolicy.optional(),
      group: resetPolicy.optional(),
      channel: resetPolicy.optional(),
    })
    .prefault({}),
});

/** `replies.blocks`: finished blocks of a long answer are sent as messages of their own while the rest is written. */
const blocksSchema = z
  .strictObject({
    /** `without-edits`: on platforms whose messages cannot be changed, so that an answer cannot grow in one. */
    when: z.enum(["off", "without-edits", "always"]).default("off"),
    /** In characters: fewer are no block of their own, and with more one is cut where that is possible. */
    minChars: z.int().positive().default(800),
    maxChars: z.int().positive().default(1200),
    /** Where it is best cut. Code blocks and tables stay whole. */
    breakAt: z.enum(["paragraph", "newline", "sentence"]).default("paragraph"),
    /** Milliseconds without a new word until what is there is sent, though more would fit. */
    idleMs: z.int().min(0).default(1000),
  })
  .refine(({ minChars, maxChars }) => minChars <= maxChars, {
    error: "must not be more than maxChars",
    path: ["minChars"],
  })
  .prefault({});

/** `replies`: how answers reach platforms. */
export const repliesSchema = z.strictObject({
  /**
   * Whether an answer is shown on its platform while it is written, where the platform's messages can be changed:
   * `draft` everywhere, `direct` in direct conversations alone, `off` nowhere.
   */
  stream: z.enum(["draft", "direct", "off"]).default("draft"),
  blocks: blocksSchema,
  /** Whether a platform shows that an answer is being written, once that takes longer than two seconds. */
  typing: z.boolean().default(true),
});

/** `access`: who may talk to an agent. */
export const accessSchema = z.strictObject({
  dm: z.enum(["pairing", "allowlist", "open", "off"]).default("pairing"),
  /** Immutable platform ids, written channel:id. */
  allow: names.default([]),
  /** Owners are always allowed and may use commands; written channel:id. */
  owners: names.default([]),
  groups: z
    .strictObject({
      mode: z.enum(["allowlist", "open", "off"]).default("allowlist"),
      /** Conversation ids, written channel:id. */
      allow: names.default([]),
      requireMention: z.boolean().default(true),
      /**
       * Other bots: `mentioned` answers those that mention the agent or reply to it, as guests, and makes a pause of five
       * minutes where they write more than 20 times a minute.
       */
      bots: z.enum(["ignore", "mentioned"]).default("ignore"),
      historyLimit: z.int().min(0).max(200).default(20),
    })
    .prefault({}),
});

/** The service behind `web_search`; without it there is no such tool. */
const webSearchSchema = z.discriminatedUnion("engine", [
  z.strictObject({
    engine: z.enum(["brave", "tavily"]),
    apiKey: z.string().min(1),
    url: z.url({ protocol: /^https?$/ }).exactOptional(),
  }),
  z.strictObject({ engine: z.literal("searxng"), url: z.url({ protocol: /^https?$/ }) }),
]);

/** `tools.web`: what the gateway fetches from the web. */
export const webSchema = z.strictObject({
  search: webSearchSchema.optional(),
  /** Hosts that may be fetched from though they are not public, as `host:port`. */
  allow: z.array(z.string().regex(/^[^\s/@]+:\d{1,5}$/, "must be host:port")).default([]),
  /** Milliseconds for one page or file, redirects included. */
  timeoutMs: z.int().positive().max(120_000).default(15_000),
});

/** One entry of `hooks`: what a program that posts to `/hooks/<name>` has an agent do. */
export const hookSchema = z.strictObject({
  /** Default: the agent that answers where no binding matches. */
  agent: id.optional(),
  /** The conversation, with `{{path.in.the.body}}`. Default: the hook's name. */
  session: z.string().min(1).max(500).optional(),
  /** What the agent is told, with `{{path.in.the.body}}`. Default: the whole body. */
  text: z.string().min(1).optional(),
  /** What the caller presents as bearer token; without it only the gateway's own token counts. */
  secret: z.string().min(16).optional(),
});

const milliseconds = z.int().positive().max(3_600_000);

/** One entry of `mcp.servers`: a process that is started, or an address. It runs with all rights of the gateway's user. */
export const mcpServerSchema = z
  .strictObject({
    command: z.string().min(1).exactOptional(),
    args: z.array(z.string()).exactOptional(),
    /** All that it finds in its environment besides `PATH`, `HOME` and the like. */
    env: z.record(z.string(), z.string()).exactOptional(),
    cwd: z.string().min(1).exactOptional(),
    url: z.url({ protocol: /^https?$/ }).exactOptional(),
    headers: z.record(z.string(), z.string()).exactOptional(),
    /** To start and to list its tools. */
    startMs: milliseconds.default(10_000),
    /** Of one call. */
    callMs: milliseconds.default(60_000),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    message: "needs either command or url",
  });

/** `tools`: settings of the built-in tools, and where others come from. */
export const toolsSchema = z.strictObject({
  /** npm packages that export tools as `default` or `tools`, or paths of folders that hold one. */
  packages: names.default([]),
  exec: z
    .strictObject({
      /** `none` runs commands without a sandbox: an owner's explicit choice. */
      sandbox: z.enum(["bubblewrap", "none", "off"]).default("bubblewrap"),
      timeoutMs: z.int().positive().default(60_000),
      /** Hosts that commands in the sandbox may reach, through a proxy, where policy lets them; by default none. */
      domains: domains.default([]),
      /** When an owner is asked about a command, beyond what policy asks about anyway. */
      ask: askMode.default("never"),
      /**
       * Commands that need no question in the mode `unlisted`: words with spaces between, `*` for any word, `**` at the end
       * for any further ones. `git log **` covers `git log --oneline`, and nothing that expands, redirects or joins others.
       */
      rules: names.default([]),
    })
    .prefault({}),
  web: webSchema.prefault({}),
});

/** `links`: what becomes of links in messages. */
export const linksSchema = z.strictObject({
  /** `fetch`: pages are read before the agent answers, and given to it as what others wrote. */
  mode: z.enum(["off", "fetch"]).default("off"),
  /** How many of a message's links. */
  max: z.int().min(1).max(10).default(3),
  /** Of one page, in characters. */
  maxChars: z.int().min(200).max(100_000).default(8_000),
});

const days = z.number().positive().max(36_500);

/** `retention`: how long and how much is kept. What is unfinished is never removed, whatever stands here. */
export const retentionSchema = z.strictObject({
  /** Days without a message after which a conversation goes, with all its messages. Default: never. */
  idleSessionsDays: days.optional(),
  /** Most conversations; beyond it those go that had no message for longest. Default: no limit. */
  sessions: z.int().positive().max(1_000_000_000).optional(),
  /** Days for messages that their conversation has left behind, by `/new`, a reset or a compaction. */
  hiddenMessagesDays: days.default(90),
  /** Days for ended messages as they came in. */
  inboxDays: days.default(7),
  /** Days for the keys that tell a redelivered message. */
  dedupeDays: days.min(7, "must be 7 or more: platforms deliver again for as long").default(14),
  /** Days for the journals of ended runs; what they used stays, summed by day. */
  journalDays: days.default(30),
  /** Days for replies that were sent or given up. */
  outboxDays: days.default(14),
  /** Days for what `trace` and `why` tell. */
  tracesDays: days.default(7),
  /** Most rows of it, and megabytes. */
  traces: z.int().positive().max(1_000_000_000).default(200_000),
  tracesMegabytes: z.number().positive().max(1_000_000).default(256),
  /** Most files of messages in each workspace, their megabytes, and days since they came. */
  attachments: z.int().positive().max(1_000_000_000).default(2_000),
  attachmentsMegabytes: z.number().positive().max(1_000_000).default(2_000),
  attachmentsDays: days.optional(),
  /**
   * Megabytes of the database beyond which traces, journals, hidden messages and what has ended go sooner than their days
   * say. Conversations and keys against redelivery stay.
   */
  databaseMegabytes: z.number().positive().max(1_000_000).default(4_000),
});

/** `memory`: what agents remember beyond a conversation. */
export const memorySchema = z.strictObject({
  /** `false`: nothing is recalled or searched. Files stay as they are. */
  enabled: z.boolean().default(true),
  /**
   * What compares by meaning: `none`, `provider/model` of a provider that speaks OpenAI's embeddings, or `static:` with the
   * folder of a static model (model2vec).
   */
  embeddings: z
    .string()
    .regex(/^(none|static:.+|[^/:]+\/.+)$/, "must be none, provider/model or static:<folder>")
    .default("none"),
  /** Tokens of what is recalled for a message, at most; 0 recalls nothing. */
  recallTokens: z.int().min(0).max(20_000).default(600),
  /** Days after which being new counts half. */
  halfLifeDays: days.default(30),
  /** Whether the model draws what lasts from the notes of past days into `memory/MEMORY.md`, once for each day. */
  consolidate: z.boolean().default(true),
});

/** `skills`: where skills are looked for besides the standard places. */
export const skillsSchema = z.strictObject({
  load: z.strictObject({ extraDirs: names.default([]) }).prefault({}),
  entries: z
    .record(
      z.string(),
      z.strictObject({ enabled: z.boolean().optional(), config: z.record(z.string(), z.json()).optional() }),
    )
    .default({}),
});

export type GatewayConfig = z.output<typeof gatewaySchema>;
export type ProviderConfig = z.output<typeof providerSchema>;
export type ModelConfig = z.output<typeof modelSchema>;
export type AgentDefaults = z.output<typeof agentDefaultsSchema>;
export type AgentConfig = z.output<typeof agentSchema>;
export type BindingConfig = z.output<typeof bindingSchema>;
export type ChannelConfig = z.output<typeof channelSchema>;
export type SessionConfig = z.output<typeof sessionSchema>;
export type RepliesConfig = z.output<typeof repliesSchema>;
export type AccessConfig = z.output<typeof accessSchema>;
export type HookConfig = z.output<typeof hookSchema>;
export type ToolsConfig = z.output<typeof toolsSchema>;
export type LinksConfig = z.output<typeof linksSchema>;
export type McpServerConfig = z.output<typeof mcpServerSchema>;
export type RetentionConfig = z.output<typeof retentionSchema>;
export type MemoryConfig = z.output<typeof memorySchema>;
export type SkillsConfig = z.output<typeof skillsSchema>;
