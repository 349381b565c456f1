import { type Mismatch, mismatches } from "./match.ts";
import type { MatchedBy, Route } from "./route.ts";
import { bindingTier, type RouteTier, TIERS, tierOf } from "./tiers.ts";
import type { DmScope, RouteInput, RoutingConfig } from "./types.ts";

/** Why a message goes where it goes. */
export interface RouteExplanation {
  readonly input: RouteInput;
  readonly route: Route;
  /** Every tier in order; those after the deciding one are `not-reached`. */
  readonly tiers: readonly TierReport[];
  readonly session: {
    readonly dmScope: DmScope;
    /** The linked person whose session this is. */
    readonly linkedTo?: string;
    /** One sentence for people. */
    readonly reason: string;
  };
  readonly cache: {
    /** Where `resolve` would take the route from at this moment. */
    readonly source: "memory" | "store" | "none";
    /** Key of this route in the cache: a digest of all that it depends on. */
    readonly digest: string;
    /** Digest of the configuration. */
    readonly config: string;
  };
}

/** What happened in one tier. */
export interface TierReport {
  readonly tier: MatchedBy;
  readonly outcome: "matched" | "no-match" | "not-reached";
  /** One sentence for people. */
  readonly reason: string;
  /** Bindings of this channel that belong to the tier. */
  readonly bindings: number;
  /** The first of those that did not match, up to the limit asked for. */
  readonly tried: readonly TriedBinding[];
}

/** A binding that was looked at in vain. */
export interface TriedBinding {
  readonly bindingIndex: number;
  readonly agent: string;
  readonly mismatches: readonly Mismatch[];
}

/** Goes through every tier and all bindings of the channel, and says what did not hold. */
export function explainTiers(
  config: RoutingConfig,
  agents: ReadonlySet<string>,
  input: RouteInput,
  route: Route,
  limit: number,
): readonly TierReport[] {
  const ofChannel = config.bindings
    .map((binding, index) => ({ binding, index }))
    .filter(({ binding }) => binding.match.channel === input.channel);
  const decidedAt = route.matchedBy === "default" ? TIERS.length : TIERS.indexOf(route.matchedBy);

  const reports = TIERS.map((tier, place): TierReport => {
    const ofTier = ofChannel.filter(({ binding }) => tierOf(binding.match) === bindingTier(tier));
    const bindings = ofTier.length;
    if (place > decidedAt) {
      return { tier, outcome: "not-reached", reason: NOT_REACHED, bindings, tried: [] };
    }
    const decided = place === decidedAt;
    const tried = ofTier
      .filter(({ index }) => !decided || index < (route.bindingIndex ?? 0))
      .slice(0, limit)
      .map(({ binding, index }) => ({
        bindingIndex: index,
        agent: binding.agent,
        mismatches: mismatches(binding, input, tier, agents),
      }));
    return decided
      ? { tier, outcome: "matched", reason: `Binding ${route.bindingIndex} matches.`, bindings, tried }
      : { tier, outcome: "no-match", reason: noMatchReason(tier, input, bindings), bindings, tried };
  });
  const byDefault = `No binding matches; ${route.agentId} is the default agent.`;
  const last = { tier: "default", bindings: 0, tried: [] } as const;
  return [
    ...reports,
    decidedAt < TIERS.length
      ? { ...last, outcome: "not-reached", reason: NOT_REACHED }
      : { ...last, outcome: "matched", reason: byDefault },
  ];
}

/** One sentence about why the session is the one it is. */
export function sessionReason(input: RouteInput, scope: DmScope, person: string | undefined): string {
  if (input.peer.kind !== "direct") return `Every ${input.peer.kind} has a session of its own.`;
  if (person !== undefined) return `${input.channel}:${input.peer.id} is linked to ${person}.`;
  return `Direct messages are kept apart by dmScope ${scope}.`;
}

const NOT_REACHED = "An earlier tier decided.";

function noMatchReason(tier: RouteTier, input: RouteInput, bindings: number): string {
  if (bindings === 0) return `No binding of ${input.channel} belongs to this tier.`;
  if (tier === "binding.peer.parent" && input.parentPeer === undefined) {
    return "The message is not in a thread with a parent.";
  }
  if (tier.startsWith("binding.guild") && input.guildId === undefined) return "The message is in no guild.";
  if (tier === "binding.team" && input.teamId === undefined) return "The message is in no team.";
  return bindings === 1 ? "The one binding does not match." : `None of ${bindings} bindings matches.`;
}
