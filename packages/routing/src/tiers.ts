import { isEveryAccount } from "./pattern.ts";
import type { BindingMatch, Peer, RouteTier } from "./types.ts";

/** In the order in which they are tried. */
export const TIERS: readonly RouteTier[] = [
  "binding.peer",
  "binding.peer.parent",
  "binding.peer.wildcard",
  "binding.guild+roles",
  "binding.guild",
  "binding.team",
  "binding.account",
  "binding.channel",
];

/**
 * The tier a binding belongs to: that of the most particular condition it gives. Bindings of `binding.peer` are
 * tried a second time, in `binding.peer.parent`, against the parent of a thread.
 */
export function tierOf(match: BindingMatch): Exclude<RouteTier, "binding.peer.parent"> {
  if (match.peer !== undefined) return isAnyPeer(match.peer) ? "binding.peer.wildcard" : "binding.peer";
  if (match.guildId !== undefined) return match.roles === undefined ? "binding.guild" : "binding.guild+roles";
  if (match.teamId !== undefined) return "binding.team";
  return isEveryAccount(match.account) ? "binding.channel" : "binding.account";
}

/** Whether a binding's peer stands for every conversation of its kind. */
export function isAnyPeer(peer: Peer): boolean {
  return peer.id === "*";
}
