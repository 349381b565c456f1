/** The agents that run on this node. If several gateways share a store, each agent runs on one of them at a time. */
export interface Seats {
  /**
   * Returns true if messages of this session are answered on this node.
   *
   * @param sessionKey absent for work that belongs to no session, such as a heartbeat
   */
  isHere(agentId: string, sessionKey?: string): boolean;
}

/** The seats of a gateway that does not share its store: every agent runs here. */
export const ALL_SEATS: Seats = { isHere: () => true };
