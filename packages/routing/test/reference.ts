// A simple reference implementation: for each tier, the first binding in the list that matches.
import type { Binding, MatchedBy, Peer, Route, RouteInput, RoutingConfig } from "../src/index.ts";

interface Tier {
  readonly name: MatchedBy;
  belongs(binding: Binding): boolean;
  peer(input: RouteInput): Peer | undefined;
}

const own = (input: RouteInput) => input.peer;
const hasPeer = ({ match }: Binding) => match.peer !== undefined;
const hasGuild = ({ match }: Binding) => match.guildId !== undefined;
const everyAccount = ({ match }: Binding) =>
  match.account === undefined || match.account.replaceAll("*", "") === "";

const TIERS: readonly Tier[] = [
  { name: "binding.peer", belongs: (b) => hasPeer(b) && b.match.peer?.id !== "*", peer: own },
  {
    name: "binding.peer.parent",
    belongs: (b) => hasPeer(b) && b.match.peer?.id !== "*",
    peer: (input) => input.parentPeer,
  },
  { name: "binding.peer.wildcard", belongs: (b) => b.match.peer?.id === "*", peer: own },
  { name: "binding.guild+roles", belongs: (b) => hasGuild(b) && b.match.roles !== undefined, peer: own },
  { name: "binding.guild", belongs: (b) => hasGuild(b) && b.match.roles === undefined, peer: own },
  { name: "binding.team", belongs: (b) => b.match.teamId !== undefined, peer: own },
  { name: "binding.account", belongs: (b) => !everyAccount(b), peer: own },
  { name: "binding.channel", belongs: everyAccount, peer: own },
];

/** Compares with a regular expression. */
function accountFits(pattern: string, account: string): boolean {
  const source = pattern
    .split("*")
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
    .join("[^]*");
  return new RegExp(`^${source}$`).test(account);
}

function fits({ match }: Binding, input: RouteInput, peer: Peer | undefined): boolean {
  if (match.channel !== input.channel) return false;
  if (match.account !== undefined && !accountFits(match.account, input.account)) return false;
  if (match.peer !== undefined) {
    if (peer === undefined || match.peer.kind !== peer.kind) return false;
    if (match.peer.id !== "*" && match.peer.id !== peer.id) return false;
  }
  if (match.guildId !== undefined && match.guildId !== input.guildId) return false;
  if (match.teamId !== undefined && match.teamId !== input.teamId) return false;
  if (match.roles !== undefined && !match.roles.some((role) => (input.roles ?? []).includes(role)))
    return false;
  return true;
}

export function referenceRoute(config: RoutingConfig, input: RouteInput): Omit<Route, "sessionKey"> {
  for (const tier of TIERS) {
    let remaining = config.bindings;
    // Exclude the bindings that belong to earlier tiers.
    for (const earlier of TIERS) {
      if (earlier === tier) break;
      if (earlier.name === "binding.peer" && tier.name === "binding.peer.parent") continue;
      remaining = remaining.filter((binding) => !earlier.belongs(binding));
    }
    for (const binding of remaining) {
      if (!config.agents.includes(binding.agent)) continue;
      if (tier.belongs(binding) && fits(binding, input, tier.peer(input))) {
        const bindingIndex = config.bindings.indexOf(binding);
        return { agentId: binding.agent, matchedBy: tier.name, bindingIndex };
      }
    }
  }
  return { agentId: config.defaultAgent, matchedBy: "default" };
}
