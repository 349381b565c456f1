export { type CheckOptions, checkBindings, type RoutingProblem } from "./check.ts";
export { configDigest } from "./digest.ts";
export { isResetDue, resetPolicyFor } from "./reset.ts";
export { MemoryRouteCache } from "./route-cache.ts";
export { createRouter, RoutingConfigError } from "./router.ts";
export { escapeId, formatSessionKey, parseSessionKey, type SessionKeyParts } from "./session-key.ts";
export type {
  Binding,
  BindingMatch,
  CachedRoute,
  DmScope,
  MatchedBy,
  Mismatch,
  Peer,
  PeerKind,
  ResetPolicies,
  ResetPolicy,
  ResetTimes,
  Route,
  RouteCacheStore,
  RouteExplanation,
  RouteInput,
  Router,
  RouterClock,
  RouterOptions,
  RouteTier,
  RoutingConfig,
  TierReport,
  TriedBinding,
} from "./types.ts";
