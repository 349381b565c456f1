import type { z } from "zod";
import { accessProblems } from "./access.ts";
import { type Closed, closedFor } from "./closed.ts";
import { interpolate, type SecretSources } from "./interpolate.ts";
import { ConfigError, type ConfigPath, formatPath, type Problem } from "./problem.ts";
import {
  type AccessConfig,
  type AgentConfig,
  type AgentDefaults,
  accessSchema,
  agentDefaultsSchema,
  agentSchema,
  type BindingConfig,
  type BudgetConfig,
  bindingSchema,
  budgetSchema,
  type ChannelConfig,
  channelSchema,
  type GatewayConfig,
  gatewaySchema,
  type HookConfig,
  hookSchema,
  type LinksConfig,
  linksSchema,
  type McpServerConfig,
  type MemoryConfig,
  mcpServerSchema,
  memorySchema,
  type PointHookConfig,
  type ProviderConfig,
  pointHookSchema,
  providerSchema,
  type RepliesConfig,
  type RetentionConfig,
  repliesSchema,
  retentionSchema,
  type SessionConfig,
  type SkillsConfig,
  sessionSchema,
  skillsSchema,
  type ToolsConfig,
  toolsSchema,
  webSchema,
} from "./schema/index.ts";
import { secretsIn } from "./secret-places.ts";
import { type ConfigSource, parseSource } from "./source.ts";
import { didYouMean } from "./suggest.ts";
import { validate } from "./validate.ts";

/** A checked configuration: every part present, wrong parts left out and reported. */
export interface Config {
  readonly gateway: GatewayConfig;
  readonly models: { readonly providers: Readonly<Record<string, ProviderConfig>> };
  readonly agents: { readonly defaults: AgentDefaults; readonly list: readonly AgentConfig[] };
  readonly channels: Readonly<Record<string, ChannelConfig>>;
  readonly bindings: readonly BindingConfig[];
  readonly session: SessionConfig;
  readonly replies: RepliesConfig;
  readonly access: AccessConfig;
  readonly hooks: Readonly<Record<string, HookConfig>>;
  /** Those with `at`, in their order; undefined where one cannot be used as it is written. */
  readonly pointHooks: Readonly<Record<string, PointHookConfig | undefined>>;
  readonly tools: ToolsConfig;
  readonly mcp: { readonly servers: Readonly<Record<string, McpServerConfig>> };
  readonly links: LinksConfig;
  readonly retention: RetentionConfig;
  readonly memory: MemoryConfig;
  readonly budgets: readonly BudgetConfig[];
  readonly skills: SkillsConfig;
}

/** A configuration with what was wrong with it, and the means to report more about it. */
export interface LoadedConfig {
  readonly config: Config;
  readonly file: string;
  readonly problems: readonly Problem[];
  /** Where each of `config.bindings` stands in the file's list: wrong ones are left out. */
  readonly bindingPlaces: readonly number[];
  /** Values from the environment and under keys that hold secrets: keep them out of logs. */
  readonly secrets: readonly string[];
  /** Makes a problem about a value of this file, with its line. */
  problem(path: ConfigPath, about: Omit<Problem, "file" | "line" | "path">): Problem;
}

export interface LoadOptions {
  /** Name shown in problems, also tells the format by its ending. */
  readonly file: string;
  /** The file's text; empty for a gateway without a file. */
  readonly text: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Files and programs that hold secrets. Without, a reference to one is a problem of the part that uses it. */
  readonly sources?: SecretSources;
}

/** Characters below which a value of the environment counts as secret only by the name of its key. */
const SHORT = 6;

/** The keys at the top of the file; anything else is reported as unknown. */
const TOP_KEYS = [
  "gateway",
  "models",
  "agents",
  "channels",
  "bindings",
  "session",
  "replies",
  "access",
  "hooks",
  "tools",
  "mcp",
  "links",
  "retention",
  "memory",
  "budgets",
  "skills",
];

/**
 * Parses, resolves `${…}` and checks a configuration. A wrong value disables its part (a provider, an agent, an
 * account, a binding), which is left out. In `agents.defaults`, `session`, `access`, `links`, `retention`, `memory` and `skills` the wrong value alone
 * is left out and its default applies; where that would allow more than was written, nothing is allowed, and where it would remove more, nothing is removed.
 * @throws ConfigError where nothing can start: unreadable syntax, or a wrong `gateway` section
 */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const source = parseSource(options.file, options.text);
  const { value, missing, secrets } = interpolate(source.value, options.env, options.sources);
  const problems: Problem[] = [];
  const problem = problemMaker(source);
  const root = asRecord(value);
  if (root === undefined) {
    throw new ConfigError([
      problem([], mustBe("a mapping of sections", "Write sections such as `agents:` at the top level.")),
    ]);
  }
  for (const { path, message, remedy } of missing)
    problems.push(problem(path, { severity: "error", message, remedy }));
  for (const key of Object.keys(root)) {
    if (!TOP_KEYS.includes(key)) {
      problems.push(
        problem([key], {
          severity: "warning",
          message: "unknown key, ignored",
          remedy: `${didYouMean(key, TOP_KEYS)}The sections are ${TOP_KEYS.join(", ")}.`,
        }),
      );
    }
  }

  const hasMissing = (at: ConfigPath): boolean =>
    missing.some(({ path }) => formatPath(path).startsWith(`${formatPath(at)}.`));

  /** Checks one part; complaints become problems, a wrong part gives `undefined`. */
  const part = <S extends z.ZodType>(
    schema: S,
    path: ConfigPath,
    input: unknown,
    what: string | undefined,
    mend?: (path: ConfigPath) => Closed | undefined,
  ): z.output<S> | undefined => {
    const checked = validate(schema, input, path, mend);
    for (const complaint of checked.complaints) {
      // What could not be had already explains why the value is absent.
      if (missing.some((variable) => formatPath(variable.path) === formatPath(complaint.path))) continue;
      problems.push(
        problem(complaint.path, {
          severity: complaint.kind === "wrong" ? "error" : "warning",
          message: complaint.message,
          remedy: complaint.remedy,
          ...(complaint.kind === "wrong" ? { disables: what ?? settingOf(complaint.path) } : {}),
        }),
      );
    }
    return checked.value;
  };
  const section = <S extends z.ZodType>(schema: S, path: ConfigPath, input: unknown): z.output<S> => {
    const closed = (at: ConfigPath) => closedFor([...path, ...at], path.length);
    const value = input ?? {};
    return part(schema, path, value, undefined, closed) ?? schema.parse(closed([])?.value ?? {});
  };
  const entries = (path: ConfigPath, input: unknown): [string, unknown][] => {
    if (input === undefined || input === null) return [];
    const record = asRecord(input);
    if (record === undefined)
      problems.push(problem(path, mustBe("a mapping", "Write one entry per line under it.")));
    return Object.entries(record ?? {});
  };
  const items = (path: ConfigPath, input: unknown): unknown[] => {
    if (input === undefined || input === null) return [];
    if (!Array.isArray(input)) problems.push(problem(path, mustBe("a list", "Start each entry with `- `.")));
    return Array.isArray(input) ? input : [];
  };

  /** A section of sections: what else stands in it counts for nothing. */
  const mapping = (path: ConfigPath, input: unknown, keys: readonly string[]): Record<string, unknown> => {
    const found = entries(path, input);
    for (const [key] of found.filter(([name]) => !keys.includes(name)))
      problems.push(
        problem([...path, key], {
          severity: "warning",
          message: "unknown key, ignored",
          remedy: `${didYouMean(key, keys)}The keys here are ${keys.join(", ")}.`,
        }),
      );
    return Object.fromEntries(found);
  };

  const gateway = part(gatewaySchema, ["gateway"], root.gateway ?? {}, "the gateway");
  if (
    gateway === undefined ||
    problems.some((p) => p.severity === "error" && p.path.startsWith("gateway."))
  ) {
    throw new ConfigError(problems.filter((p) => p.severity === "error" && p.path.startsWith("gateway")));
  }

  const providers: Record<string, ProviderConfig> = {};
  for (const [name, input] of entries(
    ["models", "providers"],
    mapping(["models"], root.models, ["providers"]).providers,
  )) {
    const at: ConfigPath = ["models", "providers", name];
    const what = `model provider ${name}`;
    const provider = part(providerSchema, at, input, what);
    // Only a whole entry counts: without its misspelt or unset address the rest would send the key to the vendor. What
    // is wrong with one of its models concerns that model.
    const faults = problems.filter(
      ({ path }) => path.startsWith(`${formatPath(at)}.`) && !path.startsWith(`${formatPath(at)}.models[`),
    );
    for (const fault of faults) {
      const message = fault.message.replace("unknown key, ignored", "unknown key");
      problems[problems.indexOf(fault)] = { ...fault, severity: "error", message, disables: what };
    }
    if (provider && faults.length === 0) providers[name] = provider;
  }

  const agents = mapping(["agents"], root.agents, ["defaults", "list"]);
  const defaultsAt: ConfigPath = ["agents", "defaults"];
  // What was written in the wrong shape may have been what an agent is not to have.
  const defaults =
    asRecord(root.agents ?? {}) === undefined
      ? agentDefaultsSchema.parse(closedFor(defaultsAt, defaultsAt.length)?.value ?? {})
      : section(agentDefaultsSchema, defaultsAt, agents.defaults);
  const list: AgentConfig[] = [];
  for (const [index, input] of items(["agents", "list"], agents.list).entries()) {
    const agent = part(agentSchema, ["agents", "list", index], input, `agent ${nameOf(input, index)}`);
    if (agent === undefined) continue;
    if (list.some((other) => other.id === agent.id)) {
      problems.push(
        problem(["agents", "list", index, "id"], {
          severity: "error",
          message: `another agent is called ${agent.id}`,
          remedy: "Give each agent an id of its own.",
          disables: `the second agent ${agent.id}`,
        }),
      );
      continue;
    }
    list.push(agent);
  }

  const channels: Record<string, ChannelConfig> = {};
  for (const [name, input] of entries(["channels"], root.channels)) {
    const channel = part(channelSchema, ["channels", name], input, `channel ${name}`);
    if (channel) channels[name] = channel;
  }

  const bindings: BindingConfig[] = [];
  const bindingPlaces: number[] = [];
  const agentIds = list.length > 0 ? list.map((agent) => agent.id) : [DEFAULT_AGENT.id];
  const isAgent = (agent: string | undefined, path: ConfigPath, disables: string): boolean => {
    if (agent === undefined || agentIds.includes(agent)) return true;
    const message = `there is no agent ${agent}`;
    const remedy = `${didYouMean(agent, agentIds)}Use one of ${agentIds.join(", ")}, or add it to agents.list.`;
    problems.push(problem(path, { severity: "error", message, remedy, disables }));
    return false;
  };
  for (const [index, input] of items(["bindings"], root.bindings).entries()) {
    const binding = part(bindingSchema, ["bindings", index], input, `binding ${index}`);
    if (binding === undefined) continue;
    if (!isAgent(binding.agent, ["bindings", index, "agent"], `binding ${index}`)) continue;
    bindings.push(binding);
    bindingPlaces.push(index);
  }

  const { web, ...otherTools } = asRecord(root.tools) ?? {};
  const withoutWeb = asRecord(root.tools) === undefined ? (root.tools ?? {}) : otherTools;
  const hooks: Record<string, HookConfig> = {};
  const pointHooks: Record<string, PointHookConfig | undefined> = {};
  for (const [name, input] of entries(["hooks"], root.hooks)) {
    const at: ConfigPath = ["hooks", name];
    if (asRecord(input)?.["at"] !== undefined) {
      const faults = problems.length;
      const hook = part(pointHookSchema, at, input, `hook ${name}`);
      pointHooks[name] = problems.length > faults || hasMissing(at) ? undefined : hook;
      continue;
    }
    const hook = part(hookSchema, ["hooks", name], input ?? {}, `hook ${name}`);
    if (hook === undefined || !isAgent(hook.agent, ["hooks", name, "agent"], `hook ${name}`)) continue;
    // A secret that could not be read must not leave the hook to another one.
    if (
      hook.secret === undefined &&
      missing.some(({ path }) => formatPath(path) === formatPath(["hooks", name, "secret"]))
    )
      continue;
    hooks[name] = hook;
  }

  const servers: Record<string, McpServerConfig> = {};
  for (const [name, input] of entries(["mcp", "servers"], mapping(["mcp"], root.mcp, ["servers"]).servers)) {
    const at: ConfigPath = ["mcp", "servers", name];
    const faults = problems.length;
    const server = part(mcpServerSchema, at, input, `MCP server ${name}`);
    // Without a key that could not be read, or that is misspelt, it would be asked for something else.
    if (server === undefined || problems.length > faults || hasMissing(at)) continue;
    if (SERVER_NAME.test(name)) servers[name] = server;
    else
      problems.push(
        problem(at, {
          severity: "error",
          message: "is no name for a server",
          remedy:
            "Use up to 24 lower-case letters, digits and hyphens: the names of its tools begin with it.",
          disables: `MCP server ${name}`,
        }),
      );
  }

  // A budget that is left out would allow what it was to prevent.
  const budgets = items(["budgets"], root.budgets).map(
    (input, index): BudgetConfig =>
      part(budgetSchema, ["budgets", index], input, "every model call") ?? NOTHING_MAY_BE_SPENT,
  );
  if (!Array.isArray(root.budgets ?? [])) budgets.push(NOTHING_MAY_BE_SPENT);

  const access = section(accessSchema, ["access"], root.access);
  problems.push(...accessProblems(access, channels, problem));
  for (const { id } of list.filter((agent) => agent.default === true).slice(1))
    problems.push(
      problem(["agents", "list", list.findIndex((agent) => agent.id === id), "default"], {
        severity: "warning",
        message: "another agent is the default already, and the first one counts",
        remedy: "Remove `default` from all agents but one.",
      }),
    );

  const config: Config = {
    gateway,
    models: { providers },
    agents: { defaults, list: list.length > 0 ? list : [DEFAULT_AGENT] },
    channels,
    bindings,
    session: section(sessionSchema, ["session"], root.session),
    replies: section(repliesSchema, ["replies"], root.replies),
    access,
    hooks,
    pointHooks,
    // A wrong setting may have been the one that kept commands from running.
    tools: {
      ...(part(toolsSchema, ["tools"], withoutWeb, "exec") ??
        toolsSchema.parse({ exec: { sandbox: "off" } })),
      web: section(webSchema, ["tools", "web"], web),
    },
    mcp: { servers },
    links: section(linksSchema, ["links"], root.links),
    retention: section(retentionSchema, ["retention"], root.retention),
    memory: section(memorySchema, ["memory"], root.memory),
    budgets,
    skills: section(skillsSchema, ["skills"], root.skills),
  };
  return {
    config,
    file: options.file,
    bindingPlaces,
    problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    // What the environment gives is most often no secret: a port or a word for the log level stays readable.
    secrets: [...secrets.filter((secret) => secret.length >= SHORT), ...secretsIn(value)],
    problem,
  };
}

/** In the place of a budget that cannot be read. */
const NOTHING_MAY_BE_SPENT: BudgetConfig = { of: "all", per: "day", tokens: 0, warnAt: 1, action: "stop" };

/** `_` keeps the name of a server apart from that of its tool. */
const SERVER_NAME = /^[a-z0-9][a-z0-9-]{0,23}$/;

/** The agent of a gateway whose file lists none. */
const DEFAULT_AGENT: AgentConfig = { id: "main" };

/** A single setting, in the words of a problem. */
function settingOf(path: ConfigPath): string {
  return `the setting ${formatPath(path)}`;
}

function problemMaker(source: ConfigSource): LoadedConfig["problem"] {
  return (path, about) => {
    const line = source.line(path);
    return { ...about, file: source.file, path: formatPath(path), ...(line === undefined ? {} : { line }) };
  };
}

function mustBe(what: string, remedy: string): Omit<Problem, "file" | "line" | "path"> {
  return { severity: "error", message: `must be ${what}`, remedy };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function nameOf(input: unknown, index: number): string {
  const id = asRecord(input)?.id;
  return typeof id === "string" ? id : String(index);
}
