import { checkAccess } from "./access.ts";
import { interpolate, type SecretSources } from "./interpolate.ts";
import { asRecord, mustBe, PartReader } from "./part-reader.ts";
import { ConfigError, type ConfigPath, formatPath, type MakeProblem, type Problem } from "./problem.ts";
import {
  type AccessConfig,
  type AgentConfig,
  type AgentDefaults,
  accessSchema,
  type BackupsConfig,
  type BindingConfig,
  type BudgetConfig,
  backupsSchema,
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
  type StoreConfig,
  sessionSchema,
  skillsSchema,
  storeSchema,
  type TelemetryConfig,
  type ToolsConfig,
  telemetrySchema,
} from "./schema/index.ts";
import { findSecrets } from "./secret-places.ts";
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

/** A validated configuration. Every section is present; invalid parts are left out. */
export interface Config {
  readonly gateway: GatewayConfig;
  readonly store: StoreConfig;
  readonly models: { readonly providers: Readonly<Record<string, ProviderConfig>> };
  readonly agents: { readonly defaults: AgentDefaults; readonly list: readonly AgentConfig[] };
  readonly channels: Readonly<Record<string, ChannelConfig>>;
  readonly bindings: readonly BindingConfig[];
  readonly session: SessionConfig;
  readonly replies: RepliesConfig;
  readonly access: AccessConfig;
  readonly hooks: Readonly<Record<string, HookConfig>>;
  /** Hooks with `at`, in order. `undefined` for an invalid one. */
  readonly pointHooks: Readonly<Record<string, PointHookConfig | undefined>>;
  readonly tools: ToolsConfig;
  readonly mcp: { readonly servers: Readonly<Record<string, McpServerConfig>> };
  readonly links: LinksConfig;
  readonly retention: RetentionConfig;
  readonly backups: BackupsConfig;
  readonly media: MediaConfig;
  readonly memory: MemoryConfig;
  readonly budgets: readonly BudgetConfig[];
  readonly skills: SkillsConfig;
  readonly telemetry: TelemetryConfig;
}

/** A configuration with its problems, and a function that creates further ones. */
export interface LoadedConfig {
  readonly config: Config;
  readonly file: string;
  readonly problems: readonly Problem[];
  /** Values from references and under keys of secrets. Keep them out of logs. */
  readonly secrets: readonly string[];
  /** Creates a problem about a value of `config`, with its line in the file. */
  readonly problem: MakeProblem;
}

export interface LoadOptions {
  /** Name shown in problems. Its extension determines the format. */
  readonly file: string;
  /** The file's text; empty for a gateway without a file. */
  readonly text: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads secrets from files and programs. Default: such references are errors. */
  readonly sources?: SecretSources;
  /**
   * Replaces invalid `gateway` and `store` sections when a running gateway reloads. Default: an invalid section
   * throws.
   */
  readonly last?: Pick<Config, "gateway" | "store">;
}

/** A shorter value from a reference counts as secret only by the name of its key: it may be a port or a log level. */
const MIN_SECRET_CHARS = 6;

const TOP_KEYS = [
  "gateway",
  "store",
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
  "backups",
  "media",
  "memory",
  "budgets",
  "skills",
  "telemetry",
];

/**
 * Parses and validates a configuration and resolves its references. An invalid value disables its part (a provider, an
 * agent, an account, a binding). In sections of settings, such as `agents.defaults`, `session` and `access`, only the
 * invalid value is replaced: by its default, or by a restrictive value if the default could allow or remove more than
 * was meant.
 *
 * @throws ConfigError if nothing can start: for invalid syntax, or for an invalid `gateway` or `store` section without
 * `last`
 * @example
 * ```ts
 * const { config, problems } = loadConfig({ file: "signalbox.yaml", text, env: process.env });
 * for (const problem of problems) console.warn(formatProblem(problem));
 * ```
 */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const source = parseSource(options.file, options.text);
  const { value, missing, secrets } = interpolate(source.value, options.env, options.sources);
  const problem = createProblemMaker(source);
  const root = asRecord(value);
  if (root === undefined)
    throw new ConfigError([
      problem([], mustBe("a mapping of sections", "Put sections such as `agents:` at the top level.")),
    ]);
  const reader = new PartReader(problem, { missing, secrets });
  reader.reportUnknown([], Object.entries(root), TOP_KEYS, "sections");
  // A reload keeps the previous section if the new one is invalid, so that it cannot change the port by accident.
  const gateway =
    reader.part(gatewaySchema, ["gateway"], root.gateway ?? {}, "the gateway") ?? options.last?.gateway;
  // Ignoring a misspelled setting would use another database.
  const store =
    reader.strictPart(storeSchema, ["store"], root.store ?? {}, "the store") ?? options.last?.store;
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
    backups: reader.section(backupsSchema, ["backups"], root.backups),
    media: reader.section(mediaSchema, ["media"], root.media),
    memory: reader.section(memorySchema, ["memory"], root.memory),
    skills: reader.section(skillsSchema, ["skills"], root.skills),
    telemetry: reader.section(telemetrySchema, ["telemetry"], root.telemetry),
  };
  const problems = [...reader.problems, ...checkAccess(root.access, sections.channels, problem)].toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0),
  );
  if (gateway === undefined || store === undefined) throw new ConfigError(problems);
  return {
    config: { gateway, store, ...sections },
    file: options.file,
    problems,
    secrets: [...secrets.filter((secret) => secret.length >= MIN_SECRET_CHARS), ...findSecrets(value)],
    problem: (path, about) => problem(toFilePath(path, { agentPlaces, bindingPlaces }), about),
  };
}

/**
 * Returns the references of a configuration that cannot be resolved: variables that are not set and secrets that cannot
 * be read. The rest of the configuration is not checked.
 *
 * @throws ConfigError if the text cannot be parsed
 */
export function findMissingReferences(
  options: Pick<LoadOptions, "file" | "text" | "env" | "sources">,
): readonly Problem[] {
  const source = parseSource(options.file, options.text);
  const makeProblem = createProblemMaker(source);
  return interpolate(source.value, options.env, options.sources).missing.map(({ path, message, remedy }) =>
    makeProblem(path, { severity: "error", message, remedy }),
  );
}

/** Maps a path of the configuration to the file, where lists also contain invalid agents and bindings. */
function toFilePath(
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

function createProblemMaker(source: ConfigSource): MakeProblem {
  return (path, about) => {
    return { ...about, file: source.file, path: formatPath(path), line: source.line(path) };
  };
}
