import type { Config, LoadedConfig, Problem } from "@signalbox/config";
import { checkBindings, type RoutingConfig } from "@signalbox/routing";
import type { Agents } from "./agents.ts";

/**
 * What routes messages: the bindings over all agents, also those that cannot work now. A message for one of them is
 * told so; another agent would answer with other tools and another memory.
 */
export function routingConfig(config: Config, agents: Agents): RoutingConfig {
  const { dmScope, identityLinks, reset } = config.session;
  return {
    bindings: config.bindings,
    agents: config.agents.list.map((agent) => agent.id),
    defaultAgent: agents.defaultId,
    dmScope,
    identityLinks,
    reset,
  };
}

/** Bindings that can never decide anything, and links that cannot be meant. */
export function routingProblems(loaded: LoadedConfig, agents: Agents): Problem[] {
  const accounts = Object.fromEntries(
    Object.entries(loaded.config.channels).map(([channel, { accounts: named }]) => [
      channel,
      Object.keys(named),
    ]),
  );
  return checkBindings(routingConfig(loaded.config, agents), { accounts }).map((problem) => {
    const place = "bindingIndex" in problem ? loaded.bindingPlaces[problem.bindingIndex] : undefined;
    return loaded.problem(place === undefined ? ["session"] : ["bindings", place], {
      severity: "warning",
      message: problem.message.replace(/^Binding \d+ /, "").replace(/\.$/, ""),
      remedy: problem.remedy,
    });
  });
}
