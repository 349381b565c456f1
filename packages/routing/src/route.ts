import type { RouteTier } from "./tiers.ts";

/** The tier of binding that decided, or `default` where none did. */
export type MatchedBy = RouteTier | "default";

/** Where a message goes. */
export interface Route {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly matchedBy: MatchedBy;
  /** Place of the deciding binding in `RoutingConfig.bindings`, from 0. Absent where `matchedBy` is `default`. */
  readonly bindingIndex?: number;
}
