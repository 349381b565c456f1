import type { Agents } from "@signalbox/setup";
import { proveReach } from "@signalbox/tools";

/** Shows for every agent that nobody untrusted reaches what acts. @throws Error that names what is reached */
export function describeReach({ all }: Agents): string {
  let tried = 0;
  const reached = all.flatMap(({ id, tools }) => {
    const proof = proveReach(tools);
    tried += proof.tried;
    return proof.reached.map(({ tool, role, channelKind, reachesFor }) => {
      const how = reachesFor === undefined ? "" : ` (${reachesFor})`;
      return `${role} of ${id} in a ${channelKind} conversation: ${tool}${how}`;
    });
  });
  if (reached.length > 0) throw new Error(`reached unasked: ${[...new Set(reached)].join("; ")}`);
  return `${tried} combinations of agent, role, conversation and taint: no guest reaches exec, process or a write, and no run that has seen others' words reaches the network, the agent's notes or another conversation unasked`;
}
