import { fitsAccount } from "./account-pattern.ts";
import { tierOf } from "./tiers.ts";
import type { RoutingConfig } from "./types.ts";

/** The agents that messages to an account can go to, whoever writes them and wherever. */
export function agentsOfAccount(
  { bindings, agents, defaultAgent }: Pick<RoutingConfig, "bindings" | "agents" | "defaultAgent">,
  channel: string,
  account: string,
): readonly string[] {
  const fitting = bindings.filter(
    ({ agent, match }) =>
      agents.includes(agent) && match.channel === channel && fitsAccount(match.account, account),
  );
  const takesAll = fitting.some(
    ({ match }) =>
      match.roles === undefined && ["binding.account", "binding.channel"].includes(tierOf(match)),
  );
  return [...new Set([...fitting.map(({ agent }) => agent), ...(takesAll ? [] : [defaultAgent])])];
}
