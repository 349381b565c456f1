import type { Role } from "@signalbox/routing";
import { type CurrentRights, weakerRole } from "@signalbox/tools";
import type { Agents } from "../../configure/agents.ts";
import type { Decide } from "../../configure/decide.ts";
import type { InboundRecord } from "../../store.ts";

/** What a run has been asked, and in whose name. */
interface Asked {
  readonly stored: InboundRecord;
}

/**
 * What applies to a run now: its agent's policy, and the weakest role of the people it answers. Undefined if the agent
 * is gone, or if one of them may no longer talk to it.
 */
export type Standing = (agentId: string, messages: readonly Asked[]) => Promise<CurrentRights | undefined>;

export function createStanding(agents: Pick<Agents, "get">, decide: Decide): Standing {
  const roleOf = async ({ stored: { event, wake } }: Asked): Promise<Role | undefined> => {
    const { decision } = await decide(event);
    if (decision.kind !== "answer") return undefined;
    return wake === undefined ? decision.role : weakerRole(decision.role, wake.atMost);
  };
  return async (agentId, messages) => {
    const policy = agents.get(agentId)?.tools;
    let role: Role | undefined = "owner";
    for (const message of messages) {
      const own = await roleOf(message);
      role = own && role && weakerRole(role, own);
    }
    return policy === undefined || role === undefined ? undefined : { policy, role };
  };
}
