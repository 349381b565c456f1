export { getAccountAgents } from "./account-agents.ts";
export {
  type AccessRules,
  type Admission,
  type AdmissionDecision,
  type AdmissionInput,
  type AdmissionRule,
  createAdmission,
  findGroupRule,
  type GroupRule,
  getGroupIds,
  type Role,
} from "./admission/admission.ts";
export { type BotLoops, createBotLoops } from "./admission/bot-loops.ts";
export { createPairingCode, PAIRING_TTL_MS } from "./admission/pairing.ts";
export { type CheckOptions, checkBindings, type RoutingProblem } from "./check.ts";
export type { RouteExplanation, TierReport, TriedBinding } from "./explain.ts";
export { type Identities, type IdentityLinks, parseIdentityLinks } from "./identity-links.ts";
export type { Mismatch } from "./match.ts";
export { getMemberPrefix, isMemberConversation } from "./member-conversations.ts";
export type { Peer, PeerKind } from "./peer.ts";
export type { ResetPolicies, ResetPolicy, ResetTimes } from "./reset.ts";
export type { MatchedBy, Route } from "./route.ts";
export type { RouterClock } from "./route-cache.ts";
export { createRouter, type Router, type RouterOptions, RoutingConfigError } from "./router.ts";
export { escapeId, formatSessionKey, parseSessionKey, type SessionKeyParts } from "./session-key.ts";
export type { RouteTier } from "./tiers.ts";
export { createTokenSenderId, getSpeakerTokenName, getTokenName } from "./token-holders.ts";
export type { Binding, BindingMatch, DmScope, RouteInput, RoutingConfig } from "./types.ts";
