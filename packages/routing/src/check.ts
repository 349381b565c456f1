import { fitsAccount } from "./account-pattern.ts";
import type { PlacedBinding } from "./decide.ts";
import { PEER_KINDS, type PeerKind } from "./peer.ts";
import { isTimeZone } from "./reset.ts";
import { type ShadowedBinding, shadowedBindings } from "./shadowed.ts";
import type { BindingMatch, RoutingConfig } from "./types.ts";

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

/** Finds what cannot be meant: first in the bindings, in their order, then in the rest. */
export function checkBindings(config: RoutingConfig, options: CheckOptions = {}): readonly RoutingProblem[] {
  const problems: RoutingProblem[] = [];
  const agents = new Set(config.agents);
  const accounts = options.accounts && new Map(Object.entries(options.accounts));
  const agentRemedy = `Use one of ${config.agents.join(", ")}, or add the agent.`;
  const usable: PlacedBinding[] = [];
  config.bindings.forEach((binding, bindingIndex) => {
    const { agent, match } = binding;
    if (!agents.has(agent)) {
      const message = `Binding ${bindingIndex} names the agent ${quote(agent)}, which does not exist.`;
      problems.push({ code: "unknown-agent", bindingIndex, message, remedy: agentRemedy });
      return;
    }
    const why = impossible(match, accounts);
    if (why === undefined) {
      usable.push({ index: bindingIndex, binding });
      return;
    }
    const message = `Binding ${bindingIndex} can never match: ${why.message}.`;
    problems.push({ code: "never-matches", bindingIndex, message, remedy: why.remedy });
  });
  problems.push(...shadowedBindings(usable, agents).map(shadowedProblem));
  problems.sort((a, b) => ("bindingIndex" in a && "bindingIndex" in b ? a.bindingIndex - b.bindingIndex : 0));

  if (!agents.has(config.defaultAgent)) {
    const message = `The default agent ${quote(config.defaultAgent)} does not exist.`;
    problems.push({ code: "unknown-default-agent", message, remedy: agentRemedy });
  }
  return [...problems, ...checkLinks(config), ...checkReset(config)];
}

function shadowedProblem({ index, by }: ShadowedBinding): RoutingProblem {
  const others = by.length === 1 ? `binding ${by[0]} takes` : `bindings ${by.join(" and ")} take`;
  const message = `Binding ${index} never decides: ${others} all that it fits.`;
  const remedy = "Remove it, or make the other narrower or, in the same tier, list it later.";
  return { code: "shadowed", bindingIndex: index, by, message, remedy };
}

/** Why no message can meet the conditions, if so. */
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
    const remedy = `Configured channels: ${[...accounts.keys()].join(", ") || "none"}.`;
    return { message: `there is no channel ${quote(match.channel)}`, remedy };
  }
  if (!ours.some((account) => fitsAccount(match.account, account))) {
    const remedy = `Configured accounts: ${ours.join(", ") || "none"}.`;
    return { message: `no account of ${match.channel} fits ${quote(match.account ?? "*")}`, remedy };
  }
  return undefined;
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
  return (["default", ...PEER_KINDS] as const).flatMap((kind): RoutingProblem[] => {
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
