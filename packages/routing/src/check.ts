import { coversPattern, fitsPattern } from "./pattern.ts";
import { isTimeZone } from "./reset.ts";
import { TIERS, tierOf } from "./tiers.ts";
import type { BindingMatch, Peer, PeerKind, RoutingConfig } from "./types.ts";

/** Something in a routing configuration that cannot be meant. */
export type RoutingProblem = { readonly message: string; readonly remedy: string } & (
  | { readonly code: "unknown-agent"; readonly bindingIndex: number }
  /** No message can meet the conditions. */
  | { readonly code: "never-matches"; readonly bindingIndex: number }
  /** Every message that it fits goes to other bindings, which are given. */
  | { readonly code: "shadowed"; readonly bindingIndex: number; readonly by: readonly number[] }
  | { readonly code: "unknown-default-agent" }
  | { readonly code: "bad-identity-link"; readonly name: string }
  | { readonly code: "bad-reset-policy"; readonly kind: PeerKind | "default" }
);

export interface CheckOptions {
  /** Accounts of each configured channel; with them, bindings to other channels and accounts are found too. */
  readonly accounts?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Finds what cannot be meant: first in the bindings, in their order, then in the rest. The time it takes grows with
 * the number of bindings, and with its square only for account patterns.
 */
export function checkBindings(config: RoutingConfig, options: CheckOptions = {}): readonly RoutingProblem[] {
  const problems: RoutingProblem[] = [];
  const agents = new Set(config.agents);
  const accounts = options.accounts && new Map(Object.entries(options.accounts));
  const agentRemedy = `Use one of ${config.agents.join(", ")}, or add the agent.`;
  const usable: Placed[] = [];
  config.bindings.forEach(({ agent, match }, bindingIndex) => {
    if (!agents.has(agent)) {
      const message = `Binding ${bindingIndex} names the agent ${quote(agent)}, which does not exist.`;
      problems.push({ code: "unknown-agent", bindingIndex, message, remedy: agentRemedy });
      return;
    }
    const why = impossible(match, accounts);
    if (why === undefined) usable.push({ index: bindingIndex, match });
    else {
      const message = `Binding ${bindingIndex} can never match: ${why.message}.`;
      problems.push({ code: "never-matches", bindingIndex, message, remedy: why.remedy });
    }
  });
  problems.push(...shadowed(usable));
  problems.sort((a, b) => ("bindingIndex" in a && "bindingIndex" in b ? a.bindingIndex - b.bindingIndex : 0));

  if (!agents.has(config.defaultAgent)) {
    const message = `The default agent ${quote(config.defaultAgent)} does not exist.`;
    problems.push({ code: "unknown-default-agent", message, remedy: agentRemedy });
  }
  return [...problems, ...checkLinks(config), ...checkReset(config)];
}

interface Placed {
  readonly index: number;
  readonly match: BindingMatch;
}

function impossible(
  match: BindingMatch,
  accounts: ReadonlyMap<string, readonly string[]> | undefined,
): { message: string; remedy: string } | undefined {
  if (match.channel.includes("*")) {
    const remedy = "Name one channel; the default agent takes what no binding matches.";
    return { message: `${quote(match.channel)} is not a channel, and channels know no patterns`, remedy };
  }
  if (match.roles?.length === 0) {
    return { message: "its list of roles is empty", remedy: "Name a role, or leave roles out." };
  }
  if (match.peer?.kind === "direct" && (match.guildId !== undefined || match.roles !== undefined)) {
    const remedy = "Leave out guildId and roles, or name a group or channel.";
    return { message: "a direct chat is in no guild and has no roles", remedy };
  }
  if (accounts === undefined) return undefined;
  const ours = accounts.get(match.channel);
  if (ours === undefined) {
    const known = [...accounts.keys()].join(", ") || "none";
    return {
      message: `there is no channel ${quote(match.channel)}`,
      remedy: `Configured channels: ${known}.`,
    };
  }
  if (!ours.some((account) => fitsPattern(match.account, account))) {
    const remedy = `Configured accounts: ${ours.join(", ") || "none"}.`;
    return { message: `no account of ${match.channel} fits ${quote(match.account ?? "*")}`, remedy };
  }
  return undefined;
}

/**
 * A binding is shadowed when each case in which it could decide (each of its roles; each kind of chat, where it does
 * not say) goes to a binding that asks for no more and is tried before it.
 */
function shadowed(bindings: readonly Placed[]): RoutingProblem[] {
  const wider = new Map<string, Wider>();
  for (const { index, match } of bindings) {
    for (const role of match.roles ?? [undefined]) {
      const key = caseKey(match.channel, match.peer, match.guildId, match.teamId, role);
      const found: Wider = wider.get(key) ?? { exact: new Map(), patterns: [] };
      wider.set(key, found);
      const place = { index, rank: rank(match), account: match.account };
      if (match.account === undefined || match.account.includes("*")) {
        // A pattern listed before with no narrower account makes this one useless here too.
        const useless = found.patterns.some(
          (p) => p.rank <= place.rank && coversPattern(p.account, place.account),
        );
        if (!useless) found.patterns.push(place);
      } else if (!found.exact.has(match.account)) found.exact.set(match.account, place);
    }
  }
  return bindings.flatMap(({ index, match }): RoutingProblem[] => {
    const by = new Set<number>();
    for (const one of cases(match)) {
      const winner = firstBefore(wider, one, match, index);
      if (winner === undefined) return [];
      by.add(winner);
    }
    const list = [...by].sort((a, b) => a - b);
    const others = list.length === 1 ? `binding ${list[0]}` : `bindings ${list.join(" and ")}`;
    const message = `Binding ${index} never decides: ${others} ${list.length === 1 ? "takes" : "take"} all that it fits.`;
    const remedy = "Remove it, or make the other narrower or, in the same tier, list it later.";
    return [{ code: "shadowed", bindingIndex: index, by: list, message, remedy }];
  });
}

interface Place {
  readonly index: number;
  readonly rank: number;
  readonly account: string | undefined;
}

/** Bindings that ask for the same, the account aside. */
interface Wider {
  readonly exact: Map<string, Place>;
  readonly patterns: Place[];
}

interface Case {
  readonly peer: Peer | undefined;
  readonly role: string | undefined;
}

const KINDS: readonly PeerKind[] = ["direct", "group", "channel"];

function cases(match: BindingMatch): Case[] {
  const roles = match.roles ?? [undefined];
  if (match.peer !== undefined) return roles.map((role) => ({ peer: match.peer, role }));
  const inGuild = match.guildId !== undefined || match.roles !== undefined;
  const kinds = inGuild ? KINDS.filter((kind) => kind !== "direct") : KINDS;
  return kinds.flatMap((kind) => roles.map((role) => ({ peer: { kind, id: "*" }, role })));
}

/** The binding that takes a case from the one at `index`, if any. */
function firstBefore(
  wider: ReadonlyMap<string, Wider>,
  { peer, role }: Case,
  match: BindingMatch,
  index: number,
): number | undefined {
  const own = rank(match);
  let best: Place | undefined;
  // A binding takes the case if it asks for some of these values and for nothing else.
  for (const p of peer === undefined ? [undefined] : [peer, undefined]) {
    for (const g of match.guildId === undefined ? [undefined] : [match.guildId, undefined]) {
      for (const t of match.teamId === undefined ? [undefined] : [match.teamId, undefined]) {
        for (const r of role === undefined ? [undefined] : [role, undefined]) {
          const found = wider.get(caseKey(match.channel, p, g, t, r));
          if (found === undefined) continue;
          const exact = match.account === undefined ? undefined : found.exact.get(match.account);
          for (const one of exact === undefined ? found.patterns : [exact, ...found.patterns]) {
            const before = one.rank < own || (one.rank === own && one.index < index);
            if (!before || one.index === index || !coversPattern(one.account, match.account)) continue;
            if (
              best === undefined ||
              one.rank < best.rank ||
              (one.rank === best.rank && one.index < best.index)
            ) {
              best = one;
            }
          }
        }
      }
    }
  }
  return best?.index;
}

function rank(match: BindingMatch): number {
  return TIERS.indexOf(tierOf(match));
}

function caseKey(
  channel: string,
  peer: Peer | undefined,
  guild: string | undefined,
  team: string | undefined,
  role: string | undefined,
): string {
  return JSON.stringify([
    channel,
    peer?.kind ?? null,
    peer?.id ?? null,
    guild ?? null,
    team ?? null,
    role ?? null,
  ]);
}

function checkLinks({ identityLinks = {} }: RoutingConfig): RoutingProblem[] {
  const problems: RoutingProblem[] = [];
  const owners = new Map<string, string>();
  for (const [name, ids] of Object.entries(identityLinks)) {
    for (const id of ids) {
      const colon = id.indexOf(":");
      const owner = owners.get(id);
      if (colon <= 0 || colon === id.length - 1) {
        const message = `The identity link ${quote(id)} of ${name} is not written channel:id.`;
        problems.push({ code: "bad-identity-link", name, message, remedy: "Write it like telegram:123." });
      } else if (owner !== undefined && owner !== name) {
        const message = `${quote(id)} is linked to ${owner} and to ${name}; ${owner} has it.`;
        problems.push({ code: "bad-identity-link", name, message, remedy: "Remove one of the two." });
      }
      if (owner === undefined) owners.set(id, name);
    }
  }
  return problems;
}

function checkReset({ reset }: RoutingConfig): RoutingProblem[] {
  if (reset === undefined) return [];
  return (["default", ...KINDS] as const).flatMap((kind): RoutingProblem[] => {
    const policy = reset[kind];
    const bad = (message: string, remedy: string): RoutingProblem[] => [
      { code: "bad-reset-policy", kind, message: `The reset policy for ${kind} ${message}.`, remedy },
    ];
    if (policy?.mode === "idle" && !(policy.minutes > 0)) {
      return bad(`has ${policy.minutes} idle minutes`, "Use a positive number.");
    }
    if (policy?.mode !== "daily") return [];
    if (!Number.isInteger(policy.hour) || policy.hour < 0 || policy.hour > 23) {
      return bad(`has the hour ${policy.hour}`, "Use a whole number from 0 to 23.");
    }
    if (policy.timeZone !== undefined && !isTimeZone(policy.timeZone)) {
      return bad(`names the unknown time zone ${quote(policy.timeZone)}`, "Use a name like Asia/Shanghai.");
    }
    return [];
  });
}

function quote(text: string): string {
  return JSON.stringify(text);
}
