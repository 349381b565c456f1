import { isEveryAccount } from "./account-pattern.ts";
import type { Peer } from "./peer.ts";
import type { BindingMatch } from "./types.ts";

/** Tiers of bindings, in the order in which they are tried. */
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

/** A tier to which bindings belong. The bindings of `binding.peer` also serve `binding.peer.parent`. */
export type BindingTier = Exclude<RouteTier, "binding.peer.parent">;

/** The tier a binding belongs to: that of the most particular condition it gives. */
export function tierOf(match: BindingMatch): BindingTier {
  if (match.peer !== undefined) return isAnyPeer(match.peer) ? "binding.peer.wildcard" : "binding.peer";
  if (match.guildId !== undefined) return match.roles === undefined ? "binding.guild" : "binding.guild+roles";
  if (match.teamId !== undefined) return "binding.team";
  return isEveryAccount(match.account) ? "binding.channel" : "binding.account";
}

/** The tier whose bindings are tried in this one: for the parent of a thread, those that name a conversation. */
export function bindingTier(tier: RouteTier): BindingTier {
  return tier === "binding.peer.parent" ? "binding.peer" : tier;
}

/** Whether a binding's peer matches every conversation of its kind. */
export function isAnyPeer(peer: Peer): boolean {
  return peer.id === "*";
}
