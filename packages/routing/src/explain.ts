import { findMismatches, type Mismatch } from "./match.ts";
import type { MatchedBy, Route } from "./route.ts";
import { getBindingTier, getTier, type RouteTier, TIERS } from "./tiers.ts";
import type { DmScope, RouteInput, RoutingConfig } from "./types.ts";

/** Explains which agent and session a message is routed to. */
export interface RouteExplanation {
  readonly input: RouteInput;
  readonly route: Route;
  /** Every tier in order. Tiers after the one that matched are `not_reached`. */
  readonly tiers: readonly TierReport[];
  readonly session: {
    readonly dmScope: DmScope;
    /** Name of the linked person to whom the session belongs. */
    readonly linkedTo?: string;
    /** One sentence for people, in English. */
    readonly reason: string;
  };
  readonly cache: {
    /** The cache from which `resolve` would currently read this route. */
    readonly source: "memory" | "store" | "none";
    /** Key of this route in the cache, which is a digest of everything that the route depends on. */
    readonly digest: string;
    /** Digest of the configuration. */
    readonly config: string;
  };
}

/** The outcome of one tier. */
export interface TierReport {
  readonly tier: MatchedBy;
  readonly outcome: "matched" | "no_match" | "not_reached";
  /** One sentence for people, in English. */
  readonly reason: string;
  /** Number of bindings of this channel that belong to the tier. */
  readonly bindings: number;
  /** The first bindings of the tier that did not match, up to the requested limit. */
  readonly tried: readonly TriedBinding[];
}

/** A binding that did not match. */
export interface TriedBinding {
  readonly bindingIndex: number;
  readonly agent: string;
  readonly mismatches: readonly Mismatch[];
}

/** Reports every tier and, for the channel's bindings, the conditions that were not met. */
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
    const ofTier = ofChannel.filter(({ binding }) => getTier(binding.match) === getBindingTier(tier));
    const bindings = ofTier.length;
    if (place > decidedAt) {
      return { tier, outcome: "not_reached", reason: NOT_REACHED, bindings, tried: [] };
    }
    const decided = place === decidedAt;
    const tried = ofTier
      .filter(({ index }) => !decided || index < (route.bindingIndex ?? 0))
      .slice(0, limit)
      .map(({ binding, index }) => ({
        bindingIndex: index,
        agent: binding.agent,
        mismatches: findMismatches(binding, input, tier, agents),
      }));
    return decided
      ? { tier, outcome: "matched", reason: `Binding ${route.bindingIndex} matches.`, bindings, tried }
      : { tier, outcome: "no_match", reason: explainNoMatch(tier, input, bindings), bindings, tried };
  });
  const byDefault = `No binding matches; ${route.agentId} is the default agent.`;
  const last = { tier: "default", bindings: 0, tried: [] } as const;
  return [
    ...reports,
    decidedAt < TIERS.length
      ? { ...last, outcome: "not_reached", reason: NOT_REACHED }
      : { ...last, outcome: "matched", reason: byDefault },
  ];
}

/** Explains in one sentence how the session was chosen. */
export function explainSession(input: RouteInput, scope: DmScope, person: string | undefined): string {
  if (input.peer.kind !== "direct") return `Every ${input.peer.kind} has its own session.`;
  if (person !== undefined) return `${input.channel}:${input.peer.id} is linked to ${person}.`;
  return `Direct messages are separated by dmScope ${scope}.`;
}

const NOT_REACHED = "An earlier tier decided.";

function explainNoMatch(tier: RouteTier, input: RouteInput, bindings: number): string {
  if (bindings === 0) return `No binding of ${input.channel} belongs to this tier.`;
  if (tier === "binding.peer.parent" && input.parentPeer === undefined) {
    return "The message is not in a thread with a parent.";
  }
  if (tier.startsWith("binding.guild") && input.guildId === undefined) return "The message is in no guild.";
  if (tier === "binding.team" && input.teamId === undefined) return "The message is in no team.";
  return bindings === 1 ? "The one binding does not match." : `None of ${bindings} bindings matches.`;
}
