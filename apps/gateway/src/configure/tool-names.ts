import {
  type AgentConfig,
  type ConfigPath,
  didYouMean,
  type LoadedConfig,
  type Problem,
} from "@signalbox/config";
import { toolPrefix } from "@signalbox/mcp";
import { allowsTool, BUILT_IN_TOOLS, findUnknownToolNames, listToolNames } from "@signalbox/tools";
import type { Agent, Agents } from "./agents.ts";
import type { PluginTools } from "./plugin-tools.ts";

/** Returns an agent's tools, except those of MCP servers, which are only known during a run. */
export function getAgentTools(agent: Agent, plugins: PluginTools): readonly string[] {
  return getAllNames(plugins).filter((name) => allowsTool(agent.tools, name));
}

function getAllNames({ tools }: PluginTools): readonly string[] {
  return [...BUILT_IN_TOOLS, ...tools.map(({ name }) => name)];
}

/** Returns the names that tool lists may contain. An MCP server's tools are not known until it has started. */
export function namesFor({ config }: LoadedConfig, plugins: PluginTools): readonly string[] {
  const ofServers = Object.keys(config.mcp.servers).map((server) => `${toolPrefix(server)}*`);
  return [...getAllNames(plugins), ...ofServers];
}

/** Reports names in the configuration that match no tool. */
export function toolProblems(loaded: LoadedConfig, agents: Agents, plugins: PluginTools): Problem[] {
  const all = namesFor(loaded, plugins);
  return [...groupToolProblems(loaded, all), ...agentToolProblems(loaded, agents, all)];
}

/** Reports names in the rules of groups. */
function groupToolProblems(loaded: LoadedConfig, all: readonly string[]): Problem[] {
  return Object.entries(loaded.config.access.groups.rules).flatMap(([id, { tools = {} }]) =>
    (["allow", "deny"] as const).flatMap((list) =>
      findUnknownToolNames(tools[list] ?? [], all).map((name) =>
        loaded.problem(["access", "groups", "rules", id, "tools", list], {
          severity: "error",
          message: `the rule of the group ${id} refers to the tool ${name}, which does not exist`,
          remedy: remedyFor(name, all),
          disables: `tool ${name} in the group ${id}`,
        }),
      ),
    ),
  );
}

function remedyFor(name: string, all: readonly string[]): string {
  return (
    didYouMean(name, listToolNames(all)).trimEnd() ||
    "Correct or remove it. docs/tools.md lists all tools, groups and profiles."
  );
}

function agentToolProblems(loaded: LoadedConfig, agents: Agents, all: readonly string[]): Problem[] {
  return agents.all.flatMap(({ id, tools }) =>
    findUnknownToolNames(namesIn(tools), all).map((name) =>
      loaded.problem(findSetting(loaded, id, name), {
        severity: "error",
        message: `agent ${id} refers to the tool ${name}, which does not exist`,
        remedy: remedyFor(name, all),
        disables: `tool ${name} of agent ${id}`,
      }),
    ),
  );
}

/** Returns all names in an agent's tool lists, including lists for certain runs. */
function namesIn({ allow, deny, askModes, roles, channelKinds, models }: Agent["tools"]): readonly string[] {
  const rules = [roles, channelKinds, models].flatMap((byKey) => Object.values(byKey ?? {}));
  return [
    ...[...allow, ...deny, ...Object.keys(askModes)],
    ...rules.flatMap((rule) => [...(rule.allow ?? []), ...(rule.deny ?? [])]),
  ];
}

/** Returns the path of the setting that lists a tool, in the agent's own list or the defaults. */
function findSetting({ config }: LoadedConfig, agentId: string, name: string): ConfigPath {
  const { defaults, list } = config.agents;
  const index = list.findIndex(({ id }) => id === agentId);
  const own: ConfigPath = ["agents", "list", index, "tools"];
  const places = [
    ...placesIn(own, list[index]?.tools),
    ...placesIn(["agents", "defaults", "tools"], defaults.tools),
  ];
  return places.find(({ names }) => names.includes(name))?.path ?? own;
}

function placesIn(
  at: ConfigPath,
  { allow, deny, ask = {}, roles = {}, conversations = {}, models = {} }: AgentConfig["tools"] = {},
): readonly { readonly path: ConfigPath; readonly names: readonly string[] }[] {
  const rules = Object.entries({ roles, conversations, models }).flatMap(([key, byName]) =>
    Object.entries(byName).map(([name, rule]) => ({ path: [...at, key, name], rule })),
  );
  return [
    ...[{ path: at, rule: { allow, deny } }, ...rules].flatMap(({ path, rule }) => [
      { path: [...path, "allow"], names: rule?.allow ?? [] },
      { path: [...path, "deny"], names: rule?.deny ?? [] },
    ]),
    ...Object.keys(ask).map((name) => ({ path: [...at, "ask", name], names: [name] })),
  ];
}
