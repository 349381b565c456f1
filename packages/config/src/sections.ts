import { getClosedMappingOfAgent, getFailClosedValue } from "./fail-closed.ts";
import { ABSENT } from "./interpolate.ts";
import { asRecord, type PartReader } from "./part-reader.ts";
import { type ConfigPath, formatPath } from "./problem.ts";
import {
  type AgentConfig,
  type AgentDefaults,
  agentDefaultsSchema,
  agentSchema,
  type BindingConfig,
  type BudgetConfig,
  bindingSchema,
  budgetSchema,
  type ChannelConfig,
  channelSchema,
  type HookConfig,
  hookSchema,
  type McpServerConfig,
  mcpServerSchema,
  type PointHookConfig,
  type ProviderConfig,
  pointHookSchema,
  providerSchema,
  type ToolsConfig,
  toolsSchema,
  webSchema,
} from "./schema/index.ts";
import { didYouMean } from "./suggest.ts";

// Sections with entries. An invalid entry is left out, and the others stay.

export function readProviders(reader: PartReader, section: unknown): Record<string, ProviderConfig> {
  const providers: Record<string, ProviderConfig> = {};
  const models = reader.mapping(["models"], section, ["providers"]);
  for (const [name, input] of reader.namedEntries(
    ["models", "providers"],
    models.providers,
    providerSchema,
    "model provider",
  )) {
    const at: ConfigPath = ["models", "providers", name];
    const what = `model provider ${name}`;
    const provider = reader.part(providerSchema, at, input, what);
    // A provider with any problem is left out: without a misspelt `baseUrl`, its key would be sent to the vendor. A
    // problem of one of its models concerns only that model.
    const isOfProvider = (path: string): boolean =>
      path.startsWith(`${formatPath(at)}.`) && !path.startsWith(`${formatPath(at)}.models[`);
    const isFaulty = reader.raise(isOfProvider, what);
    if (provider !== undefined && !isFaulty) providers[name] = provider;
  }
  return providers;
}

export interface AgentSection {
  readonly defaults: AgentDefaults;
  readonly list: readonly AgentConfig[];
  /** The position of each in the file's list. */
  readonly places: readonly number[];
}

export function readAgents(reader: PartReader, section: unknown): AgentSection {
  const agents = reader.mapping(["agents"], section, ["defaults", "list"]);
  const defaultsAt: ConfigPath = ["agents", "defaults"];
  // A section of the wrong type may have been meant to restrict agents.
  const defaults =
    asRecord(section ?? {}) === undefined
      ? agentDefaultsSchema.parse(getFailClosedValue(defaultsAt, defaultsAt.length)?.value ?? {})
      : reader.section(agentDefaultsSchema, defaultsAt, agents.defaults);
  const list: AgentConfig[] = [];
  const places: number[] = [];
  for (const [index, input] of reader.items(["agents", "list"], agents.list).entries()) {
    const at: ConfigPath = ["agents", "list", index];
    const agent = reader.part(agentSchema, at, input, `agent ${getEntryName(input, index)}`, {
      unknownKey: getClosedMappingOfAgent,
    });
    if (agent === undefined) continue;
    if (list.some((other) => other.id === agent.id)) {
      reader.report([...at, "id"], {
        severity: "error",
        message: `another agent already has the id ${agent.id}`,
        remedy: "Give each agent its own id.",
        disables: `the second agent ${agent.id}`,
      });
      continue;
    }
    if (agent.default === true && list.some((other) => other.default === true))
      reader.report([...at, "default"], {
        severity: "warning",
        message: "another agent is already the default, and the first one counts",
        ignored: true,
        remedy: "Remove `default` from all agents but one.",
      });
    list.push(agent);
    places.push(index);
  }
  return { defaults, list: list.length > 0 ? list : [DEFAULT_AGENT], places };
}

/** The agent of a configuration that lists none. */
export const DEFAULT_AGENT: AgentConfig = { id: "main" };

function getEntryName(input: unknown, index: number): string {
  const id = asRecord(input)?.id;
  return typeof id === "string" ? id : String(index);
}

export function readChannels(reader: PartReader, section: unknown): Record<string, ChannelConfig> {
  const channels: Record<string, ChannelConfig> = {};
  for (const [name, input] of reader.namedEntries(["channels"], section, channelSchema, "channel")) {
    const channel = reader.part(channelSchema, ["channels", name], input, `channel ${name}`);
    if (channel === undefined) continue;
    const accounts = Object.entries(channel.accounts).map(([account, settings]) => {
      reader.raise(
        (path) => path.startsWith(`channels.${name}.accounts.${account}.`),
        `channel account ${name}/${account}`,
      );
      return [account, withoutAbsent(settings)] as const;
    });
    channels[name] = { ...channel, accounts: Object.fromEntries(accounts) };
  }
  return channels;
}

/** Removes unresolved references. The channel's own schema validates the rest. */
function withoutAbsent(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== ABSENT));
}

export interface BindingSection {
  readonly bindings: readonly BindingConfig[];
  /** The position of each in the file's list. */
  readonly places: readonly number[];
}

export function readBindings(
  reader: PartReader,
  section: unknown,
  agents: readonly AgentConfig[],
): BindingSection {
  const bindings: BindingConfig[] = [];
  const places: number[] = [];
  for (const [index, input] of reader.items(["bindings"], section).entries()) {
    const at: ConfigPath = ["bindings", index];
    const what = `binding ${index}`;
    const binding = reader.part(bindingSchema, at, input, what);
    if (binding === undefined || !checkAgent(reader, agents, binding.agent, [...at, "agent"], what)) continue;
    bindings.push(binding);
    places.push(index);
  }
  return { bindings, places };
}

export interface HookSection {
  readonly hooks: Readonly<Record<string, HookConfig>>;
  /** Hooks with `at`. `undefined` for an invalid one. */
  readonly pointHooks: Readonly<Record<string, PointHookConfig | undefined>>;
}

export function readHooks(reader: PartReader, section: unknown, agents: readonly AgentConfig[]): HookSection {
  const hooks: Record<string, HookConfig> = {};
  const pointHooks: Record<string, PointHookConfig | undefined> = {};
  for (const [name, input] of reader.namedEntries(["hooks"], section, hookSchema, "hook")) {
    const at: ConfigPath = ["hooks", name];
    const what = `hook ${name}`;
    if (asRecord(input)?.["at"] !== undefined) {
      pointHooks[name] = reader.strictPart(pointHookSchema, at, input, what);
      continue;
    }
    const hook = reader.part(hookSchema, at, input ?? {}, what);
    if (hook === undefined || !checkAgent(reader, agents, hook.agent, [...at, "agent"], what)) continue;
    hooks[name] = hook;
  }
  return { hooks, pointHooks };
}

function checkAgent(
  reader: PartReader,
  agents: readonly AgentConfig[],
  agent: string | undefined,
  path: ConfigPath,
  disables: string,
): boolean {
  const ids = agents.map(({ id }) => id);
  if (agent === undefined || ids.includes(agent)) return true;
  const message = `there is no agent ${agent}`;
  const remedy = `${didYouMean(agent, ids)}Use one of ${ids.join(", ")}, or add it to agents.list.`;
  reader.report(path, { severity: "error", message, remedy, disables });
  return false;
}

export function readTools(reader: PartReader, section: unknown): ToolsConfig {
  const { web, ...others } = asRecord(section) ?? {};
  const withoutWeb = asRecord(section) === undefined ? (section ?? {}) : others;
  // An invalid setting may have been meant to keep commands from running.
  const tools =
    reader.part(toolsSchema, ["tools"], withoutWeb, "exec") ??
    toolsSchema.parse({ exec: { sandbox: "off" } });
  return { ...tools, web: reader.section(webSchema, ["tools", "web"], web) };
}

/** Without `_`, which separates the server's name from the tool's in `mcp__<server>__<tool>`. */
const SERVER_NAME = /^[a-z0-9][a-z0-9-]{0,23}$/;

export function readMcpServers(reader: PartReader, section: unknown): Record<string, McpServerConfig> {
  const servers: Record<string, McpServerConfig> = {};
  const mcp = reader.mapping(["mcp"], section, ["servers"]);
  for (const [name, input] of reader.namedEntries(
    ["mcp", "servers"],
    mcp.servers,
    mcpServerSchema,
    "MCP server",
  )) {
    const at: ConfigPath = ["mcp", "servers", name];
    // A misspelt key, or one with an unresolved reference, could start something else than was meant.
    const server = reader.strictPart(mcpServerSchema, at, input, `MCP server ${name}`);
    if (server === undefined) continue;
    if (SERVER_NAME.test(name)) servers[name] = server;
    else
      reader.report(at, {
        severity: "error",
        message: "is not a valid server name",
        remedy: "Use up to 24 lowercase letters, digits and hyphens; the names of its tools start with it.",
        disables: `MCP server ${name}`,
      });
  }
  return servers;
}

/** Replaces an invalid budget, because without it the spending would be unlimited. */
const BLOCK_ALL: BudgetConfig = { of: "all", per: "day", tokens: 0, warnAt: 1, action: "stop" };

export function readBudgets(reader: PartReader, section: unknown): readonly BudgetConfig[] {
  const budgets = reader
    .items(["budgets"], section)
    .map((input, index) => reader.part(budgetSchema, ["budgets", index], input, "every model call"));
  const isList = Array.isArray(section ?? []);
  return [...budgets, ...(isList ? [] : [undefined])].map((budget) => budget ?? BLOCK_ALL);
}
