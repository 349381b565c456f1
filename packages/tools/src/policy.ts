import type { ToolEffects } from "@signalbox/agent-core";
import { type Phrases, phrasesIn } from "@signalbox/phrases";
import { formatCodeSpan } from "./escape.ts";
import { matchesAny } from "./tool-names.ts";
import type { Claim, ClaimKind, Role, RunFacts, Verdict } from "./types.ts";

/** Lists of tool names. Entries may also be patterns, groups and profiles; see `matchesAny`. */
export interface ToolRule {
  /** Allowed tools. Default: every tool. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** Tools that need approval for every call. */
  readonly ask?: readonly string[];
  /** Conditions under which a tool needs approval, by tool name. Default: `never`. */
  readonly askModes?: Readonly<Record<string, AskMode>>;
}

/**
 * The condition under which calls of a tool need approval:
 * - `always`: every call.
 * - `unlisted`: calls that no allow rule covers.
 * - `tainted`: calls in a run that has read untrusted content.
 * - `never`: only calls whose claims need it.
 */
export type AskMode = "always" | "unlisted" | "tainted" | "never";

/** The tools that an agent's runs may use: the agent's rule, narrowed by role, conversation and model. */
export interface ToolPolicy extends ToolRule {
  /** Rules by role. Default: all tools, but only `group:read` for guests. */
  readonly roles?: Partial<Record<Role, ToolRule>>;
  readonly channelKinds?: Readonly<Record<string, ToolRule>>;
  /** Rules by group, as `channel:id`. See `RunFacts.groups`. */
  readonly groups?: Readonly<Record<string, ToolRule>> | undefined;
  /** Rules by `provider/model`, or by `provider` for all of its models. */
  readonly models?: Readonly<Record<string, ToolRule>>;
}

/** The policy and role that currently apply to a run. */
export interface CurrentRights {
  readonly policy: ToolPolicy;
  /** The weakest current role of the people who have spoken in the run. */
  readonly role: Role;
}

/**
 * Looks up the current rights of a run. Resolves with undefined if someone who has spoken in the run no longer has any
 * rights.
 */
export type GetCurrentRights = () => Promise<CurrentRights | undefined>;

const DEFAULT_ROLES: Readonly<Record<Role, ToolRule>> = {
  owner: {},
  member: {},
  guest: { allow: ["group:read"] },
  system: {},
};

type PolicyPhrases = Phrases["policy"];

/** A policy decision. */
export interface Decision {
  readonly decision: Verdict;
  /** Code of the rule that led to the decision. See `DecisionRecord`. */
  readonly rule: string;
  readonly reason: string;
}

export interface DecisionInput {
  readonly tool: { readonly name: string; readonly effects: ToolEffects };
  readonly claims: readonly Claim[];
  readonly facts: RunFacts;
  /** True if an allow rule covers the call. Default: false. */
  readonly isCovered?: boolean;
  /** Language of the reason. Default: English. */
  readonly phrases?: Phrases;
}

/**
 * Decides about one call using one policy. The agent, the role, the conversation kind, the group, each model that may
 * answer and, in a sub-agent, the parent run must all allow the call. `deny` takes precedence over `ask`, and `ask`
 * over `allow`.
 */
export function decideByPolicy(policy: ToolPolicy, input: DecisionInput): Decision {
  const { tool, facts, phrases = phrasesIn("en") } = input;
  const texts = phrases.policy;
  const { role, channelKind, parentTools } = facts;
  const byRule = (rule: ToolRule, scope: Scope, whose: string) =>
    decideByRule(rule, tool.name, scope, whose, texts);
  const decisions = [
    byRule(policy, { kind: "agent" }, texts.whose.agent(facts.agentId)),
    byRule(policy.roles?.[role] ?? DEFAULT_ROLES[role], { kind: "role", name: role }, texts.whose.role(role)),
    byRule(
      policy.channelKinds?.[channelKind] ?? {},
      { kind: "channel", name: channelKind },
      texts.whose.channel(channelKind),
    ),
    ...getGroupRules(policy, facts).map(([id, rule]) =>
      byRule(rule, { kind: "group", name: id }, texts.whose.group(id)),
    ),
    ...getModelRules(policy, facts).map(([model, rule]) =>
      byRule(rule, { kind: "model", name: model }, texts.whose.model(model)),
    ),
    byRule(parentTools === undefined ? {} : { allow: parentTools }, { kind: "parent" }, texts.whose.parent),
    decideByAskMode(getAskMode(policy, tool.name), input, texts),
    ...input.claims.map((claim) => decideByClaim(claim, facts, texts)),
  ];
  return (
    decisions.find((each) => each?.decision === "deny") ??
    decisions.find((each) => each?.decision === "ask") ?? {
      decision: "allow",
      rule: "agent_allow",
      reason: texts.allowed(tool.name, facts.agentId, role),
    }
  );
}

/**
 * Decides about one call using several policies. The strictest decision applies. Without a policy, the call is denied.
 */
export function decideByPolicies(
  policies: readonly { readonly policy: ToolPolicy; readonly isCovered: boolean }[],
  input: Omit<DecisionInput, "isCovered">,
): Decision {
  const decisions = policies.map(({ policy, isCovered }) => decideByPolicy(policy, { ...input, isCovered }));
  const strictest = (["deny", "ask", "allow"] as const).map((verdict) =>
    decisions.find(({ decision }) => decision === verdict),
  );
  const { gone } = (input.phrases ?? phrasesIn("en")).policy;
  const none: Decision = { decision: "deny", rule: "no_policy", reason: gone };
  return strictest.find((decision) => decision !== undefined) ?? none;
}

/**
 * Returns true if at least one call of the tool could be allowed in the run. Only such tools are offered to the model.
 */
export function isOffered(policy: ToolPolicy, tool: DecisionInput["tool"], facts: RunFacts): boolean {
  return decideByPolicy(policy, { tool, facts, claims: [] }).decision !== "deny";
}

/** Returns true if a rule allows a tool, with or without approval. */
export function allowsTool(rule: ToolRule, tool: string): boolean {
  return decideByRule(rule, tool, { kind: "agent" }, "", phrasesIn("en").policy)?.decision !== "deny";
}

/** Returns the rule for the group of the run: that of the first id that has one. */
function getGroupRules({ groups = {} }: ToolPolicy, facts: RunFacts): (readonly [string, ToolRule])[] {
  const id = facts.groups?.find((each) => Object.hasOwn(groups, each));
  return id === undefined ? [] : [[id, groups[id] ?? {}]];
}

/** Returns the rules for all models that may answer in the run, by `provider/model` and by `provider`. */
function getModelRules({ models = {} }: ToolPolicy, facts: RunFacts): (readonly [string, ToolRule])[] {
  return (facts.models ?? [])
    .flatMap((model) => [model, model.slice(0, Math.max(0, model.indexOf("/")))])
    .flatMap((name) => (Object.hasOwn(models, name) ? [[name, models[name] ?? {}] as const] : []));
}

/** The part of a policy that a rule comes from. */
interface Scope {
  readonly kind: "agent" | "role" | "channel" | "group" | "model" | "parent";
  readonly name?: string;
}

function decideByRule(
  rule: ToolRule,
  tool: string,
  { kind, name }: Scope,
  whose: string,
  texts: PolicyPhrases,
): Decision | undefined {
  const code = (list: "allow" | "deny" | "ask") => `${kind}_${list}${name === undefined ? "" : `:${name}`}`;
  if (matchesAny(rule.deny ?? [], tool))
    return { decision: "deny", rule: code("deny"), reason: texts.denied(tool, whose) };
  if (rule.allow !== undefined && !matchesAny(rule.allow, tool))
    return { decision: "deny", rule: code("allow"), reason: texts.notListed(tool, whose) };
  if (matchesAny(rule.ask ?? [], tool))
    return { decision: "ask", rule: code("ask"), reason: texts.asks(tool, whose) };
  return undefined;
}

/** Returns the condition under which a rule requires approval for a tool. */
export function getAskMode({ askModes = {} }: ToolRule, tool: string): AskMode {
  return Object.hasOwn(askModes, tool) ? (askModes[tool] ?? "never") : "never";
}

function decideByAskMode(
  mode: AskMode,
  { tool, facts, isCovered = false }: DecisionInput,
  texts: PolicyPhrases,
): Decision | undefined {
  const ask = (reason: string): Decision => ({ decision: "ask", rule: `ask_${mode}`, reason });
  if (mode === "always") return ask(texts.always(tool.name));
  if (mode === "unlisted") return isCovered ? undefined : ask(texts.unlisted(tool.name));
  return mode === "tainted" && facts.taint.length > 0
    ? ask(texts.tainted(tool.name, describeSources(facts)))
    : undefined;
}

/** Maximum number of taint sources in a reason. */
const MAX_SOURCES = 5;

function describeSources({ taint }: RunFacts): string[] {
  const all = taint.map(({ source, detail }) =>
    detail === undefined ? source : `${source} ${quote(detail)}`,
  );
  const sources = [...new Set(all)];
  return sources.length > MAX_SOURCES ? [...sources.slice(0, MAX_SOURCES), "…"] : sources;
}

/** Maximum length of a detail in a reason, in characters. */
const MAX_DETAIL_CHARS = 200;

/** Formats a name as inline code, because untrusted people choose such names and they appear in approval requests. */
function quote(detail: string): string {
  return formatCodeSpan(
    detail.length > MAX_DETAIL_CHARS ? `${detail.slice(0, MAX_DETAIL_CHARS - 1)}…` : detail,
  );
}

/** Claims that need approval in every run. */
const NEEDS_APPROVAL: ReadonlySet<ClaimKind> = new Set(["configure", "save_download"]);

/** Claims that need an owner's approval, by role. */
const NEEDS_OWNER: Readonly<Partial<Record<Role, readonly ClaimKind[]>>> = {
  member: [
    "write_identity",
    "forget_memory",
    "exec_network",
    "message_elsewhere",
    "read_elsewhere",
    "schedule",
    "operate_page",
    "read_config",
  ],
  system: [
    "write_identity",
    "forget_memory",
    "exec_network",
    "read_elsewhere",
    "schedule",
    "operate_page",
    "read_config",
  ],
};

function decideByClaim(claim: Claim, facts: RunFacts, texts: PolicyPhrases): Decision | undefined {
  const { kind, detail } = claim;
  const { role } = facts;
  const what = texts.claims[kind](quote(detail));
  if (role === "guest") return { decision: "deny", rule: `guest_${kind}`, reason: texts.guestMayNot(what) };
  if (kind === "read_identity") return undefined;
  if (facts.taint.length > 0)
    return {
      decision: "ask",
      rule: `taint_${kind}`,
      reason: texts.hasSeen(describeSources(facts), what),
    };
  if (NEEDS_APPROVAL.has(kind)) return { decision: "ask", rule: kind, reason: texts.everybodyAsks(what) };
  if (NEEDS_OWNER[role]?.includes(kind) === true)
    return { decision: "ask", rule: `${role}_${kind}`, reason: texts.roleAsks(role, what) };
  return undefined;
}
