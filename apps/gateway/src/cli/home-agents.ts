import { GatewayError } from "@signalbox/home";
import { type Agent, resolveAgents } from "../configure/agents.ts";
import type { ConfiguredHome } from "./host.ts";

/**
 * Returns the named agent or shard, or the default agent.
 *
 * @throws GatewayError if the name is unknown
 */
export function getAgent({ home, loaded }: ConfiguredHome, named: string | undefined): Agent {
  const agents = resolveAgents(loaded, home);
  const id = named ?? agents.defaultId;
  const agent = agents.getShard(id);
  if (agent === undefined) {
    const ids = agents.shards.map((each) => each.shardId).join(", ");
    const problem =
      agents.get(id) === undefined ? `There is no agent ${id}.` : `The agent ${id} is split into shards.`;
    throw new GatewayError("usage", `${problem} Available: ${ids || "none"}.`);
  }
  return agent;
}
