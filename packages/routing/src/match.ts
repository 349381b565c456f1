import { matchesAccount } from "./account-pattern.ts";
import type { Peer } from "./peer.ts";
import { isAnyPeer, type RouteTier } from "./tiers.ts";
import type { Binding, RouteInput } from "./types.ts";

/** A condition of a binding that was not met. */
export interface Mismatch {
  readonly field: "channel" | "agent" | "account" | "peer" | "guildId" | "roles" | "teamId";
  /** The value that the binding requires. */
  readonly wanted: string;
  /** The message's value, if it has one. */
  readonly got?: string;
}

/**
 * Returns the conditions of a binding that a message does not meet in a tier. Empty if the binding matches. Routes,
 * explanations, the cache and the check of bindings all use this comparison.
 */
export function findMismatches(
  { agent, match }: Binding,
  input: RouteInput,
  tier: RouteTier,
  agents: ReadonlySet<string>,
): Mismatch[] {
  const failed: Mismatch[] = [];
  const fail = (field: Mismatch["field"], wanted: string, got: string | undefined) => {
    failed.push(got === undefined ? { field, wanted } : { field, wanted, got });
  };
  if (match.channel !== input.channel) fail("channel", match.channel, input.channel);
  if (!agents.has(agent)) fail("agent", agent, undefined);
  if (!matchesAccount(match.account, input.account)) fail("account", match.account ?? "*", input.account);
  if (match.peer !== undefined) {
    const isParent = tier === "binding.peer.parent";
    const peer = isParent ? input.parentPeer : input.peer;
    const otherIds = isParent ? [] : (input.otherPeerIds ?? []);
    if (!isSamePeer(match.peer, peer, otherIds))
      fail("peer", describePeer(match.peer), peer && describePeer(peer));
  }
  if (match.guildId !== undefined && match.guildId !== input.guildId) {
    fail("guildId", match.guildId, input.guildId);
  }
  if (match.roles !== undefined && !match.roles.some((role) => input.roles?.includes(role))) {
    fail("roles", match.roles.join(" or "), input.roles?.join(", "));
  }
  if (match.teamId !== undefined && match.teamId !== input.teamId) fail("teamId", match.teamId, input.teamId);
  return failed;
}

function isSamePeer(wanted: Peer, peer: Peer | undefined, otherIds: readonly string[]): boolean {
  if (peer?.kind !== wanted.kind) return false;
  return isAnyPeer(wanted) || [peer.id, ...otherIds].includes(wanted.id);
}

function describePeer(peer: Peer): string {
  return `${peer.kind} ${peer.id}`;
}
