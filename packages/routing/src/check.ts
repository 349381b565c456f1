import { matchesAccount } from "./account-pattern.ts";
import type { PlacedBinding } from "./decide.ts";
import { PEER_KINDS, type PeerKind } from "./peer.ts";
import { isTimeZone } from "./reset.ts";
import { findShadowedBindings, type ShadowedBinding } from "./shadowed.ts";
import type { BindingMatch, RoutingConfig } from "./types.ts";

/** An error in a routing configuration. */
export type RoutingProblem = { readonly message: string; readonly remedy: string } & (
  | { readonly code: "unknown_agent"; readonly bindingIndex: number }
  /** No message can meet the conditions. */
  | { readonly code: "never_matches"; readonly bindingIndex: number }
  /** Every message that matches goes to the bindings in `by`. */
  | { readonly code: "shadowed"; readonly bindingIndex: number; readonly by: readonly number[] }
  | { readonly code: "unknown_default_agent" }
  | { readonly code: "invalid_identity_link"; readonly name: string }
  | { readonly code: "invalid_reset_policy"; readonly kind: PeerKind | "default" }
);

export interface CheckOptions {
  /** Account names of each configured channel. If given, bindings to other channels and accounts are reported. */
  readonly accounts?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Finds mistakes in a routing configuration: bindings that can never match or that others shadow, and agents,
 * identity links and reset policies that cannot work.
 *
 * @returns problems of bindings in their order, then those of the rest; empty if there are none
 * @example
 * ```ts
 * for (const { message, remedy } of checkBindings(config)) console.warn(`${message} ${remedy}`);
 * ```
 */
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
      problems.push({ code: "unknown_agent", bindingIndex, message, remedy: agentRemedy });
      return;
    }
    const why = findContradiction(match, accounts);
    if (why === undefined) {
      usable.push({ index: bindingIndex, binding });
      return;
    }
    const message = `Binding ${bindingIndex} can never match: ${why.message}.`;
    problems.push({ code: "never_matches", bindingIndex, message, remedy: why.remedy });
  });
  problems.push(...findShadowedBindings(usable, agents).map(createShadowedProblem));
  problems.sort((a, b) => ("bindingIndex" in a && "bindingIndex" in b ? a.bindingIndex - b.bindingIndex : 0));

  if (!agents.has(config.defaultAgent)) {
    const message = `The default agent ${quote(config.defaultAgent)} does not exist.`;
    problems.push({ code: "unknown_default_agent", message, remedy: agentRemedy });
  }
  return [...problems, ...checkIdentityLinks(config), ...checkResetPolicies(config)];
}

function createShadowedProblem({ index, by }: ShadowedBinding): RoutingProblem {
  const others = by.length === 1 ? `binding ${by[0]} gets` : `bindings ${by.join(" and ")} get`;
  const message = `Binding ${index} has no effect: ${others} every message that it matches.`;
  const remedy = "Remove it, or make the other narrower or, in the same tier, list it later.";
  return { code: "shadowed", bindingIndex: index, by, message, remedy };
}

/** Returns the reason why no message can meet the conditions, if there is one. */
function findContradiction(
  match: BindingMatch,
  accounts: ReadonlyMap<string, readonly string[]> | undefined,
): { message: string; remedy: string } | undefined {
  if (match.channel.includes("*")) {
    const remedy = "Name one channel. The default agent gets the messages that no binding matches.";
    return {
      message: `${quote(match.channel)} is not a channel, and \`channel\` does not support patterns`,
      remedy,
    };
  }
  if (match.roles?.length === 0) {
    return { message: "its list of roles is empty", remedy: "Name a role, or remove `roles`." };
  }
  const { peer } = match;
  if (peer !== undefined && !PEER_KINDS.includes(peer.kind)) {
    const isDirect = ["dm", "user", "person", "private"].includes(peer.kind);
    const remedy = isDirect ? "Use the kind `direct`." : `Use one of the kinds ${PEER_KINDS.join(", ")}.`;
    return { message: `${quote(peer.kind)} is not a kind of conversation`, remedy };
  }
  if (peer?.kind === "direct" && (match.guildId !== undefined || match.roles !== undefined)) {
    const remedy = "Remove `guildId` and `roles`, or name a group or channel.";
    return { message: "direct chats have no guild and no roles", remedy };
  }
  if (accounts === undefined) return undefined;
  const ours = accounts.get(match.channel);
  if (ours === undefined) {
    const remedy = `Configured channels: ${[...accounts.keys()].join(", ") || "none"}.`;
    return { message: `there is no channel ${quote(match.channel)}`, remedy };
  }
  if (!ours.some((account) => matchesAccount(match.account, account))) {
    const remedy = `Configured accounts: ${ours.join(", ") || "none"}.`;
    return { message: `no account of ${match.channel} matches ${quote(match.account ?? "*")}`, remedy };
  }
  return undefined;
}

function checkIdentityLinks({ identityLinks = {} }: RoutingConfig): RoutingProblem[] {
  const problems: RoutingProblem[] = [];
  const owners = new Map<string, string>();
  for (const [name, ids] of Object.entries(identityLinks)) {
    for (const id of ids) {
      const colon = id.indexOf(":");
      const owner = owners.get(id);
      if (colon <= 0 || colon === id.length - 1) {
        const message = `The identity link ${quote(id)} of ${name} does not have the form channel:id.`;
        problems.push({
          code: "invalid_identity_link",
          name,
          message,
          remedy: "Write it like telegram:123.",
        });
      } else if (owner !== undefined && owner !== name) {
        const message = `${quote(id)} is linked to ${owner} and to ${name}; the first one, ${owner}, applies.`;
        problems.push({ code: "invalid_identity_link", name, message, remedy: "Remove one of them." });
      }
      if (owner === undefined) owners.set(id, name);
    }
  }
  return problems;
}

function checkResetPolicies({ reset }: RoutingConfig): RoutingProblem[] {
  if (reset === undefined) return [];
  return (["default", ...PEER_KINDS] as const).flatMap((kind): RoutingProblem[] => {
    const policy = reset[kind];
    const bad = (message: string, remedy: string): RoutingProblem[] => [
      { code: "invalid_reset_policy", kind, message: `The reset policy for ${kind} ${message}.`, remedy },
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
