/** The agents that run on this node. If several gateways share a store, each agent runs on one of them at a time. */
export interface Seats {
  /**
   * Returns true if messages of this session are answered on this node.
   *
   * @param sessionKey absent for work that belongs to no session, such as a heartbeat
   */
  isHere(agentId: string, sessionKey?: string): boolean;
  /** Returns the id of the seat of a session: its agent's, or that of the agent's shard. */
  getSeat(agentId: string, sessionKey?: string): string;
  /** Returns true if this node holds a seat. */
  holds(seat: string): boolean;
}

/** The seats of a gateway that does not share its store and has no restrictions: every agent runs here. */
export const ALL_SEATS: Seats = { isHere: () => true, getSeat: (agentId) => agentId, holds: () => true };

/** Labels of a node, and those that an agent requires. */
export interface NodeLabels {
  /** Name of the node. It counts as a label. */
  readonly name?: string | undefined;
  readonly labels: readonly string[];
}

/**
 * Returns true if an agent may run on a node.
 *
 * @param required the labels of which the node needs one. Default: none is required
 */
export function mayRunOn({ name, labels }: NodeLabels, required: readonly string[] | undefined): boolean {
  return required === undefined || required.some((label) => label === name || labels.includes(label));
}
