export { agentsOfAccount } from "./account-agents.ts";
export { type CheckOptions, checkBindings, type RoutingProblem } from "./check.ts";
export type { RouteExplanation, TierReport, TriedBinding } from "./explain.ts";
export { type BotLoops, createBotLoops } from "./gate/bot-loops.ts";
export {
  type AccessRules,
  createGate,
  type Gate,
  type GateDecision,
  type GateInput,
  type GateRule,
  type Role,
} from "./gate/gate.ts";
export { PAIRING_TTL_MS, pairingCode } from "./gate/pairing.ts";
export { type Identities, type IdentityLinks, readIdentityLinks } from "./identity-links.ts";
export type { Mismatch } from "./match.ts";
export { isMemberConversation, memberPrefix } from "./member-conversations.ts";
export { MemoryRouteCache } from "./memory-route-cache.ts";
export type { Peer, PeerKind } from "./peer.ts";
export type { ResetPolicies, ResetPolicy, ResetTimes } from "./reset.ts";
export type { MatchedBy, Route } from "./route.ts";
export type { CachedRoute, RouteCacheStore, RouterClock } from "./route-cache.ts";
export { createRouter, type Router, type RouterOptions, RoutingConfigError } from "./router.ts";
export { escapeId, formatSessionKey, parseSessionKey, type SessionKeyParts } from "./session-key.ts";
export type { RouteTier } from "./tiers.ts";
export { tokenHolder, tokenOfHolder, tokenOfSpeaker } from "./token-holders.ts";
export type { Binding, BindingMatch, DmScope, RouteInput, RoutingConfig } from "./types.ts";
