import type { RouteTier } from "./tiers.ts";

/** The tier of the binding that matched, or `default` if none matched. */
export type MatchedBy = RouteTier | "default";

/** The agent and the session that a message is routed to. */
export interface Route {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly matchedBy: MatchedBy;
  /** Index of the matching binding in `RoutingConfig.bindings`. Absent if `matchedBy` is `default`. */
  readonly bindingIndex?: number;
}
