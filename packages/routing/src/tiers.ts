import { matchesEveryAccount } from "./account-pattern.ts";
import type { Peer } from "./peer.ts";
import type { BindingMatch } from "./types.ts";

/** The tiers of bindings, in the order in which they are tried. */
export const TIERS = [
  "binding.peer",
  "binding.peer.parent",
  "binding.peer.wildcard",
  "binding.guild+roles",
  "binding.guild",
  "binding.team",
  "binding.account",
  "binding.channel",
] as const;

export type RouteTier = (typeof TIERS)[number];

/** A tier that bindings belong to. The bindings of `binding.peer` are also tried in `binding.peer.parent`. */
export type BindingTier = Exclude<RouteTier, "binding.peer.parent">;

/** Returns the tier of a binding, which its most specific condition determines. */
export function getTier(match: BindingMatch): BindingTier {
  if (match.peer !== undefined) return isAnyPeer(match.peer) ? "binding.peer.wildcard" : "binding.peer";
  if (match.guildId !== undefined) return match.roles === undefined ? "binding.guild" : "binding.guild+roles";
  if (match.teamId !== undefined) return "binding.team";
  return matchesEveryAccount(match.account) ? "binding.channel" : "binding.account";
}

/** Returns the tier whose bindings are tried in a tier. `binding.peer.parent` tries the bindings of `binding.peer`. */
export function getBindingTier(tier: RouteTier): BindingTier {
  return tier === "binding.peer.parent" ? "binding.peer" : tier;
}

/** Returns true if a binding's peer matches every conversation of its kind. */
export function isAnyPeer(peer: Peer): boolean {
  return peer.id === "*";
}
