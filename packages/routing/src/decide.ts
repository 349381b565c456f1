import { mismatches } from "./match.ts";
import type { Peer } from "./peer.ts";
import { bindingTier, type RouteTier, TIERS, tierOf } from "./tiers.ts";
import type { Binding, BindingMatch, RouteInput } from "./types.ts";

/** A binding with its place in the configuration. */
export interface PlacedBinding {
  readonly index: number;
  readonly binding: Binding;
}

/** The binding that decides, and the tier in which it does. */
export interface Decision extends PlacedBinding {
  readonly tier: RouteTier;
}

/** Bindings grouped by channel, tier and the condition that names the tier, so that few have to be compared. */
export type BindingIndex = ReadonlyMap<string, readonly PlacedBinding[]>;

export function indexBindings(bindings: readonly PlacedBinding[]): BindingIndex {
  return Map.groupBy(bindings, ({ binding: { match } }) =>
    groupKey(match.channel, tierOf(match), namingCondition(match)),
  );
}

/** Goes through the tiers in their order; in a tier the first listed binding that matches decides. */
export function decide(
  index: BindingIndex,
  input: RouteInput,
  agents: ReadonlySet<string>,
): Decision | undefined {
  for (const tier of TIERS) {
    // Groups are in the order of the configuration: of each, the first match is all that counts.
    const matches = namedBy(input, tier).flatMap((value) => {
      const group = index.get(groupKey(input.channel, bindingTier(tier), value)) ?? [];
      return group.find(({ binding }) => mismatches(binding, input, tier, agents).length === 0) ?? [];
    });
    if (matches.length > 0) return { tier, ...matches.reduce((a, b) => (a.index < b.index ? a : b)) };
  }
  return undefined;
}

const ACCOUNT_PATTERNS = "*";

/** The value of the condition after which a binding's tier is called. */
function namingCondition(match: BindingMatch): string {
  const { peer, guildId, teamId, account } = match;
  switch (tierOf(match)) {
    case "binding.peer":
      return peer === undefined ? "" : peerKey(peer);
    case "binding.peer.wildcard":
      // Every server may have one for all its channels.
      return `${peer?.kind}:${guildId ?? teamId ?? ""}`;
    case "binding.guild+roles":
    case "binding.guild":
      return guildId ?? "";
    case "binding.team":
      return teamId ?? "";
    case "binding.account":
      return account === undefined || account.includes("*") ? ACCOUNT_PATTERNS : account;
    case "binding.channel":
      return "";
  }
}

/** The values by which a binding of a tier could name this message. */
function namedBy(input: RouteInput, tier: RouteTier): readonly string[] {
  const { peer, otherPeerIds = [], parentPeer, guildId, teamId, account } = input;
  switch (tier) {
    case "binding.peer":
      return [peer.id, ...otherPeerIds].map((id) => peerKey({ kind: peer.kind, id }));
    case "binding.peer.parent":
      return parentPeer === undefined ? [] : [peerKey(parentPeer)];
    case "binding.peer.wildcard":
      return [guildId, teamId, ""].flatMap((place) => (place === undefined ? [] : `${peer.kind}:${place}`));
    case "binding.guild+roles":
    case "binding.guild":
      return guildId === undefined ? [] : [guildId];
    case "binding.team":
      return teamId === undefined ? [] : [teamId];
    case "binding.account":
      return [account, ACCOUNT_PATTERNS];
    case "binding.channel":
      return [""];
  }
}

function peerKey({ kind, id }: Peer): string {
  return `${kind}:${id}`;
}

function groupKey(channel: string, tier: RouteTier, value: string): string {
  return JSON.stringify([channel, tier, value]);
}
