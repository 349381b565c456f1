export { type CheckOptions, checkBindings, type RoutingProblem } from "./check.ts";
export type { RouteExplanation, TierReport, TriedBinding } from "./explain.ts";
export type { IdentityLinks } from "./identity-links.ts";
export type { Mismatch } from "./match.ts";
export { MemoryRouteCache } from "./memory-route-cache.ts";
export type { ResetPolicies, ResetPolicy, ResetTimes } from "./reset.ts";
export type { CachedRoute, RouteCacheStore, RouterClock } from "./route-cache.ts";
export { createRouter, type Router, type RouterOptions, RoutingConfigError } from "./router.ts";
export { escapeId, formatSessionKey, parseSessionKey, type SessionKeyParts } from "./session-key.ts";
export type { RouteTier } from "./tiers.ts";
export type {
  Binding,
  BindingMatch,
  DmScope,
  MatchedBy,
  Peer,
  PeerKind,
  Route,
  RouteInput,
  RoutingConfig,
} from "./types.ts";
