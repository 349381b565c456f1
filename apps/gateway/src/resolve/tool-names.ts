import type { LoadedConfig, Problem } from "@signalbox/config";
import { allowsTool, BUILT_IN_TOOLS, checkToolNames } from "@signalbox/tools";
import { type Agent, type Agents, allowPath } from "./agents.ts";

/** The tools an agent has. */
export function toolsOf(agent: Agent): readonly string[] {
  return BUILT_IN_TOOLS.filter((name) => allowsTool(agent.tools, name));
}

/** Names in the configuration that stand for no tool. */
export function toolProblems(loaded: LoadedConfig, agents: Agents): Problem[] {
  const names = BUILT_IN_TOOLS.join(", ");
  return agents.all.flatMap(({ id, tools }) =>
    checkToolNames([...tools.allow, ...tools.deny], BUILT_IN_TOOLS).map(({ name, near }) =>
      loaded.problem(allowPath(loaded, id, "tools"), {
        severity: "error",
        message: `agent ${id} names the tool ${name}, which does not exist`,
        remedy: `${near.length === 0 ? "" : `Did you mean ${near.join(" or ")}? `}The tools are ${names}, and * for all.`,
        disables: `tool ${name} of agent ${id}`,
      }),
    ),
  );
}
