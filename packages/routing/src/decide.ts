import { findMismatches } from "./match.ts";
import type { Peer } from "./peer.ts";
import { getBindingTier, getTier, type RouteTier, TIERS } from "./tiers.ts";
import type { Binding, BindingMatch, RouteInput } from "./types.ts";

/** A binding with its index in the configuration. */
export interface PlacedBinding {
  readonly index: number;
  readonly binding: Binding;
}

/** The binding that determines the route, and the tier in which it matched. */
export interface Decision extends PlacedBinding {
  readonly tier: RouteTier;
}

/** Bindings grouped by channel, tier and the condition that defines the tier, so that only a few must be compared. */
export type BindingIndex = ReadonlyMap<string, readonly PlacedBinding[]>;

export function indexBindings(bindings: readonly PlacedBinding[]): BindingIndex {
  return Map.groupBy(bindings, ({ binding: { match } }) =>
    createGroupKey(match.channel, getTier(match), getNamingCondition(match)),
  );
}

/** Tries the tiers in order. Within a tier, the first matching binding determines the route. */
export function decide(
  index: BindingIndex,
  input: RouteInput,
  agents: ReadonlySet<string>,
): Decision | undefined {
  for (const tier of TIERS) {
    // Groups keep the order of the configuration, so only the first match of each group matters.
    const matches = getNamingValues(input, tier).flatMap((value) => {
      const group = index.get(createGroupKey(input.channel, getBindingTier(tier), value)) ?? [];
      return group.find(({ binding }) => findMismatches(binding, input, tier, agents).length === 0) ?? [];
    });
    if (matches.length > 0) return { tier, ...matches.reduce((a, b) => (a.index < b.index ? a : b)) };
  }
  return undefined;
}

const ACCOUNT_PATTERNS = "*";

/** Returns the value of the condition after which a binding's tier is named. */
function getNamingCondition(match: BindingMatch): string {
  const { peer, guildId, teamId, account } = match;
  switch (getTier(match)) {
    case "binding.peer":
      return peer === undefined ? "" : formatPeer(peer);
    case "binding.peer.wildcard":
      // Each guild or team may have its own wildcard binding.
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

/** Returns the index keys of a tier's bindings that could match this message. */
function getNamingValues(input: RouteInput, tier: RouteTier): readonly string[] {
  const { peer, otherPeerIds = [], parentPeer, guildId, teamId, account } = input;
  switch (tier) {
    case "binding.peer":
      return [peer.id, ...otherPeerIds].map((id) => formatPeer({ kind: peer.kind, id }));
    case "binding.peer.parent":
      return parentPeer === undefined ? [] : [formatPeer(parentPeer)];
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

function formatPeer({ kind, id }: Peer): string {
  return `${kind}:${id}`;
}

function createGroupKey(channel: string, tier: RouteTier, value: string): string {
  return JSON.stringify([channel, tier, value]);
}
