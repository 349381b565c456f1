import { GatewayError } from "@signalbox/home";
import { type Agent, resolveAgents } from "../configure/agents.ts";
import type { ConfiguredHome } from "./host.ts";

/**
 * Returns the named agent, or the default one.
 *
 * @throws GatewayError if the name is unknown
 */
export function getAgent({ home, loaded }: ConfiguredHome, named: string | undefined): Agent {
  const agents = resolveAgents(loaded, home);
  const id = named ?? agents.defaultId;
  const agent = agents.get(id);
  if (agent === undefined) {
    const ids = agents.all.map((each) => each.id).join(", ");
    throw new GatewayError("usage", `There is no agent ${id}. Available agents: ${ids || "none"}.`);
  }
  return agent;
}
