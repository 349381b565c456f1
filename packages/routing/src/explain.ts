import { fitsPattern } from "./pattern.ts";
import { isAnyPeer, TIERS, tierOf } from "./tiers.ts";
import type {
  Binding,
  Mismatch,
  Peer,
  Route,
  RouteInput,
  RouteTier,
  RoutingConfig,
  TierReport,
  TriedBinding,
} from "./types.ts";

/**
 * Goes through the tiers slowly, binding by binding, and says what did not hold. It compares by itself rather than
 * with the compiled bindings, so that a disagreement between the two can be seen.
 */
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
  const reports: TierReport[] = [];
  let decided = false;
  for (const tier of TIERS) {
    const home = tier === "binding.peer.parent" ? "binding.peer" : tier;
    const bindings = ofChannel.filter(({ binding }) => tierOf(binding.match) === home);
    if (decided) {
      reports.push({
        tier,
        outcome: "not-reached",
        reason: NOT_REACHED,
        bindings: bindings.length,
        tried: [],
      });
      continue;
    }
    const tried: TriedBinding[] = [];
    let winner: number | undefined;
    for (const { binding, index } of bindings) {
      const mismatches = compare(binding, input, tier, agents);
      if (mismatches.length === 0) {
        winner = index;
        break;
      }
      if (tried.length < limit) tried.push({ bindingIndex: index, agent: binding.agent, mismatches });
    }
    decided = winner !== undefined;
    reports.push({
      tier,
      outcome: decided ? "matched" : "no-match",
      reason: winner === undefined ? absence(tier, input, bindings.length) : `Binding ${winner} matches.`,
      bindings: bindings.length,
      tried,
    });
  }
  reports.push({
    tier: "default",
    outcome: decided ? "not-reached" : "matched",
    reason: decided ? NOT_REACHED : `No binding matches; ${route.agentId} is the default agent.`,
    bindings: 0,
    tried: [],
  });
  return reports;
}

const NOT_REACHED = "An earlier tier decided.";

function absence(tier: RouteTier, input: RouteInput, count: number): string {
  if (count === 0) return `No binding of ${input.channel} belongs to this tier.`;
  if (tier === "binding.peer.parent" && input.parentPeer === undefined) {
    return "The message is not in a thread with a parent.";
  }
  if (tier.startsWith("binding.guild") && input.guildId === undefined) return "The message is in no guild.";
  if (tier === "binding.team" && input.teamId === undefined) return "The message is in no team.";
  return count === 1 ? "The one binding does not match." : `None of ${count} bindings matches.`;
}

/** The conditions of a binding that do not hold for a message in a tier. */
export function compare(
  { agent, match }: Binding,
  input: RouteInput,
  tier: RouteTier,
  agents: ReadonlySet<string>,
): Mismatch[] {
  const found: Mismatch[] = [];
  const note = (field: Mismatch["field"], wanted: string, got: string | undefined) => {
    found.push(got === undefined ? { field, wanted } : { field, wanted, got });
  };
  if (match.channel !== input.channel) note("channel", match.channel, input.channel);
  if (!agents.has(agent)) note("agent", agent, undefined);
  if (!fitsPattern(match.account, input.account)) note("account", match.account ?? "*", input.account);
  if (match.peer !== undefined) {
    const peer = tier === "binding.peer.parent" ? input.parentPeer : input.peer;
    const same = peer?.kind === match.peer.kind && (isAnyPeer(match.peer) || peer.id === match.peer.id);
    if (!same) note("peer", written(match.peer), peer && written(peer));
  }
  if (match.guildId !== undefined && match.guildId !== input.guildId) {
    note("guildId", match.guildId, input.guildId);
  }
  if (match.roles !== undefined && !match.roles.some((role) => input.roles?.includes(role))) {
    note("roles", match.roles.join(" or "), input.roles?.join(", "));
  }
  if (match.teamId !== undefined && match.teamId !== input.teamId) note("teamId", match.teamId, input.teamId);
  return found;
}

function written(peer: Peer): string {
  return `${peer.kind} ${peer.id}`;
}
