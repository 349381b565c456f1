import type { LoadedConfig, Problem } from "@signalbox/config";
import { toolPrefix } from "@signalbox/mcp";
import { allowsTool, BUILT_IN_TOOLS, checkToolNames } from "@signalbox/tools";
import { type Agent, type Agents, allowPath } from "./agents.ts";
import type { PluginTools } from "./plugin-tools.ts";

/** The tools an agent has, but for those of servers, which only a run asks for. */
export function toolsOf(agent: Agent, plugins: PluginTools): readonly string[] {
  return namesOf(plugins).filter((name) => allowsTool(agent.tools, name));
}

function namesOf({ tools }: PluginTools): readonly string[] {
  return [...BUILT_IN_TOOLS, ...tools.map(({ name }) => name)];
}

/** The names that lists may hold; what a server offers is not known before it is started. */
export function namesFor({ config }: LoadedConfig, plugins: PluginTools): readonly string[] {
  const ofServers = Object.keys(config.mcp.servers).map((server) => `${toolPrefix(server)}*`);
  return [...namesOf(plugins), ...ofServers];
}

/** Names in the configuration that stand for no tool. */
export function toolProblems(loaded: LoadedConfig, agents: Agents, plugins: PluginTools): Problem[] {
  const all = namesFor(loaded, plugins);
  return agents.all.flatMap(({ id, tools }) =>
    checkToolNames(namesIn(tools), all).map(({ name, near }) =>
      loaded.problem(allowPath(loaded, id, "tools"), {
        severity: "error",
        message: `agent ${id} names the tool ${name}, which does not exist`,
        remedy: `${near.length === 0 ? "" : `Did you mean ${near.join(" or ")}? `}The tools are ${all.join(", ")}, and * for all.`,
        disables: `tool ${name} of agent ${id}`,
      }),
    ),
  );
}

/** Every name in the lists of an agent, also for some runs alone. */
function namesIn({ allow, deny, askModes, roles, channelKinds, models }: Agent["tools"]): readonly string[] {
  const rules = [roles, channelKinds, models].flatMap((byKey) => Object.values(byKey ?? {}));
  return [
    ...[...allow, ...deny, ...Object.keys(askModes)],
    ...rules.flatMap((rule) => [...(rule.allow ?? []), ...(rule.deny ?? [])]),
  ];
}
