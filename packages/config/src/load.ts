import { accessProblems } from "./access.ts";
import { interpolate, type SecretSources } from "./interpolate.ts";
import { asRecord, mustBe, PartReader } from "./part-reader.ts";
import { ConfigError, type ConfigPath, formatPath, type MakeProblem, type Problem } from "./problem.ts";
import {
  type AccessConfig,
  type AgentConfig,
  type AgentDefaults,
  accessSchema,
  type BindingConfig,
  type BudgetConfig,
  type ChannelConfig,
  type GatewayConfig,
  gatewaySchema,
  type HookConfig,
  type LinksConfig,
  linksSchema,
  type McpServerConfig,
  type MediaConfig,
  type MemoryConfig,
  mediaSchema,
  memorySchema,
  type PointHookConfig,
  type ProviderConfig,
  type RepliesConfig,
  type RetentionConfig,
  repliesSchema,
  retentionSchema,
  type SessionConfig,
  type SkillsConfig,
  sessionSchema,
  skillsSchema,
  type ToolsConfig,
} from "./schema/index.ts";
import { secretsIn } from "./secret-places.ts";
import {
  readAgents,
  readBindings,
  readBudgets,
  readChannels,
  readHooks,
  readMcpServers,
  readProviders,
  readTools,
} from "./sections.ts";
import { type ConfigSource, parseSource } from "./source.ts";

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
  readonly media: MediaConfig;
  readonly memory: MemoryConfig;
  readonly budgets: readonly BudgetConfig[];
  readonly skills: SkillsConfig;
}

/** A configuration with what was wrong with it, and the means to report more about it. */
export interface LoadedConfig {
  readonly config: Config;
  readonly file: string;
  readonly problems: readonly Problem[];
  /** Values from the environment and under keys that hold secrets: keep them out of logs. */
  readonly secrets: readonly string[];
  /** Makes a problem about a value of `config`, with where it stands in the file. */
  readonly problem: MakeProblem;
}

export interface LoadOptions {
  /** Name shown in problems, also tells the format by its ending. */
  readonly file: string;
  /** The file's text; empty for a gateway without a file. */
  readonly text: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Files and programs that hold secrets. Without, a reference to one is a problem of the part that uses it. */
  readonly sources?: SecretSources;
  /**
   * What the `gateway` section is where something in it is wrong: what a gateway that runs goes
   * on with. Without, nothing is loaded then.
   */
  readonly lastGateway?: GatewayConfig;
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
  "media",
  "memory",
  "budgets",
  "skills",
];

/**
 * Parses, resolves `${…}` and checks a configuration. A wrong value disables its part (a provider, an agent, an
 * account, a binding), which is left out. In sections of settings, such as `agents.defaults`, `session` and `access`,
 * the wrong value alone is left out and its default applies; where that would allow more than was written, nothing is
 * allowed, and where it would remove more, nothing is removed.
 *
 * @throws ConfigError where nothing can start: unreadable syntax, or a wrong `gateway` section and none before it
 */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const source = parseSource(options.file, options.text);
  const { value, missing, secrets } = interpolate(source.value, options.env, options.sources);
  const problem = problemMaker(source);
  const root = asRecord(value);
  if (root === undefined)
    throw new ConfigError([
      problem([], mustBe("a mapping of sections", "Put sections such as `agents:` at the top level.")),
    ]);
  const reader = new PartReader(problem, missing);
  reader.reportUnknown([], Object.entries(root), TOP_KEYS, "sections");
  // Nothing starts on settings that were not meant.
  const gateway =
    reader.part(gatewaySchema, ["gateway"], root.gateway ?? {}, "the gateway") ?? options.lastGateway;
  const { places: agentPlaces, ...agents } = readAgents(reader, root.agents);
  const { bindings, places: bindingPlaces } = readBindings(reader, root.bindings, agents.list);
  const sections = {
    models: { providers: readProviders(reader, root.models) },
    agents,
    channels: readChannels(reader, root.channels),
    bindings,
    ...readHooks(reader, root.hooks, agents.list),
    tools: readTools(reader, root.tools),
    mcp: { servers: readMcpServers(reader, root.mcp) },
    budgets: readBudgets(reader, root.budgets),
    session: reader.section(sessionSchema, ["session"], root.session),
    replies: reader.section(repliesSchema, ["replies"], root.replies),
    access: reader.section(accessSchema, ["access"], root.access),
    links: reader.section(linksSchema, ["links"], root.links),
    retention: reader.section(retentionSchema, ["retention"], root.retention),
    media: reader.section(mediaSchema, ["media"], root.media),
    memory: reader.section(memorySchema, ["memory"], root.memory),
    skills: reader.section(skillsSchema, ["skills"], root.skills),
  };
  const problems = [...reader.problems, ...accessProblems(root.access, sections.channels, problem)].toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0),
  );
  if (gateway === undefined) throw new ConfigError(problems);
  return {
    config: { gateway, ...sections },
    file: options.file,
    problems,
    // What the environment gives is most often no secret: a port or a word for the log level stays readable.
    secrets: [...secrets.filter((secret) => secret.length >= SHORT), ...secretsIn(value)],
    problem: (path, about) => problem(placeInFile(path, { agentPlaces, bindingPlaces }), about),
  };
}

/** Wrong agents and bindings are left out, so that those behind them have other positions in the file. */
function placeInFile(
  path: ConfigPath,
  {
    agentPlaces,
    bindingPlaces,
  }: { readonly agentPlaces: readonly number[]; readonly bindingPlaces: readonly number[] },
): ConfigPath {
  const [section, second, third, ...rest] = path;
  if (section === "agents" && second === "list" && typeof third === "number")
    return [section, second, agentPlaces[third] ?? third, ...rest];
  if (section === "bindings" && typeof second === "number")
    return [section, bindingPlaces[second] ?? second, ...path.slice(2)];
  return path;
}

function problemMaker(source: ConfigSource): MakeProblem {
  return (path, about) => {
    const line = source.line(path);
    return { ...about, file: source.file, path: formatPath(path), ...(line === undefined ? {} : { line }) };
  };
}
