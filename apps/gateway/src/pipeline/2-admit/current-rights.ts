import type { Role } from "@signalbox/routing";
import { type CurrentRights, getWeakerRole } from "@signalbox/tools";
import type { GatewayContext } from "../../context.ts";
import type { InboundRecord } from "../../store.ts";
import { decideAdmission } from "./decide-admission.ts";

/** A message that a run answers. */
interface Asked {
  readonly stored: InboundRecord;
}

/**
 * Returns the current rights of a run: its agent's policy, and the weakest role of the people whom it answers.
 *
 * @returns undefined if the agent no longer exists, or if one of the people may no longer talk to it
 */
export async function getCurrentRights(
  ctx: GatewayContext,
  agentId: string,
  messages: readonly Asked[],
): Promise<CurrentRights | undefined> {
  const policy = ctx.config.current().agents.get(agentId)?.tools;
  let role: Role | undefined = "owner";
  for (const message of messages) {
    const own = await getCurrentRole(ctx, message);
    role = own && role && getWeakerRole(role, own);
  }
  return policy === undefined || role === undefined ? undefined : { policy, role };
}

async function getCurrentRole(
  ctx: GatewayContext,
  { stored: { event, trigger } }: Asked,
): Promise<Role | undefined> {
  const { decision } = await decideAdmission(ctx, event);
  if (decision.kind !== "answer") return undefined;
  return trigger === undefined ? decision.role : getWeakerRole(decision.role, trigger.atMost);
}
