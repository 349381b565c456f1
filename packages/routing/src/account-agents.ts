import { matchesAccount } from "./account-pattern.ts";
import { getTier } from "./tiers.ts";
import type { RoutingConfig } from "./types.ts";

/** Returns the ids of all agents that can receive messages sent to an account, from any sender and conversation. */
export function getAccountAgents(
  { bindings, agents, defaultAgent }: Pick<RoutingConfig, "bindings" | "agents" | "defaultAgent">,
  channel: string,
  account: string,
): readonly string[] {
  const fitting = bindings.filter(
    ({ agent, match }) =>
      agents.includes(agent) && match.channel === channel && matchesAccount(match.account, account),
  );
  const takesAll = fitting.some(
    ({ match }) =>
      match.roles === undefined && ["binding.account", "binding.channel"].includes(getTier(match)),
  );
  return [...new Set([...fitting.map(({ agent }) => agent), ...(takesAll ? [] : [defaultAgent])])];
}
