import type { ToolEffects } from "@signalbox/agent-core";
import { type Phrases, phrasesIn } from "@signalbox/phrases";
import { matchesAny } from "./tool-names.ts";
import type { Claim, ClaimKind, Role, RunFacts, Verdict } from "./types.ts";
import { codeSpan } from "./visible.ts";

/** Lists of tool names; see `matchesName` for what else they may contain. */
export interface ToolRule {
  /** Absent: every tool. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** Allowed, but a person is asked each time. */
  readonly ask?: readonly string[];
  /** When a person is asked, by the tool's name. Default `never`. */
  readonly askModes?: Readonly<Record<string, AskMode>>;
}

/**
 * When a person is asked about calls of a tool: each time; where no standing rule covers the call; where the run has
 * seen what others wrote; or for no other reason than what the call reaches for.
 */
export type AskMode = "always" | "unlisted" | "tainted" | "never";

/** What an agent's runs may use: the agent's own rule, narrowed by role, by kind of conversation and by model. */
export interface ToolPolicy extends ToolRule {
  /** Replaces the default of a role: everything, but `group:read` alone for guests. */
  readonly roles?: Partial<Record<Role, ToolRule>>;
  readonly channelKinds?: Readonly<Record<string, ToolRule>>;
  /** By `provider/model`, or by `provider` for all of its models. */
  readonly models?: Readonly<Record<string, ToolRule>>;
}

const DEFAULT_ROLES: Readonly<Record<Role, ToolRule>> = {
  owner: {},
  member: {},
  guest: { allow: ["group:read"] },
  system: {},
};

type PolicyWords = Phrases["policy"];

/** What policy decided, before it is recorded. */
export interface Decision {
  readonly decision: Verdict;
  readonly rule: string;
  readonly reason: string;
}

export interface DecisionInput {
  readonly tool: { readonly name: string; readonly effects: ToolEffects };
  readonly claims: readonly Claim[];
  readonly facts: RunFacts;
  /** Whether a standing rule covers the call. Default no. */
  readonly isCovered?: boolean;
  /** The language of the reason. Default English. */
  readonly phrases?: Phrases;
}

/**
 * Decides about one call. Pure. A call must be allowed by the agent, the role, the kind of conversation, each model
 * that may answer and, in a subagent, the parent run; a denial anywhere wins over a question anywhere.
 */
export function decide(policy: ToolPolicy, input: DecisionInput): Decision {
  const { tool, facts, phrases = phrasesIn("en") } = input;
  const words = phrases.policy;
  const { role, channelKind, parentTools } = facts;
  const by = (name: string, rule: ToolRule, whose: string) => byRule(name, rule, tool.name, whose, words);
  const verdicts = [
    by("agent", policy, words.whose.agent(facts.agentId)),
    by(`role.${role}`, policy.roles?.[role] ?? DEFAULT_ROLES[role], words.whose.role(role)),
    by(`channel.${channelKind}`, policy.channelKinds?.[channelKind] ?? {}, words.whose.channel(channelKind)),
    ...modelRules(policy, facts).map(([model, rule]) => by(`model.${model}`, rule, words.whose.model(model))),
    by("parent", parentTools === undefined ? {} : { allow: parentTools }, words.whose.parent),
    byAskMode(askModeOf(policy, tool.name), input, words),
    ...input.claims.map((claim) => byClaim(claim, facts, words)),
  ];
  return (
    verdicts.find((verdict) => verdict?.decision === "deny") ??
    verdicts.find((verdict) => verdict?.decision === "ask") ?? {
      decision: "allow",
      rule: "agent.allow",
      reason: words.allowed(tool.name, facts.agentId, role),
    }
  );
}

/** Decides by several policies, of which the strictest counts. */
export function decideByAll(
  policies: readonly { readonly policy: ToolPolicy; readonly isCovered: boolean }[],
  input: Omit<DecisionInput, "isCovered">,
): Decision {
  const decisions = policies.map(({ policy, isCovered }) => decide(policy, { ...input, isCovered }));
  const strictest = (["deny", "ask", "allow"] as const).map((verdict) =>
    decisions.find(({ decision }) => decision === verdict),
  );
  const { gone } = (input.phrases ?? phrasesIn("en")).policy;
  const none: Decision = { decision: "deny", rule: "policy.none", reason: gone };
  return strictest.find((decision) => decision !== undefined) ?? none;
}

/** Whether a run could use a tool at all, so that the model is shown it. */
export function offers(policy: ToolPolicy, tool: DecisionInput["tool"], facts: RunFacts): boolean {
  return decide(policy, { tool, facts, claims: [] }).decision !== "deny";
}

/** Whether a rule allows a tool at all, with or without asking. */
export function allowsTool(rule: ToolRule, tool: string): boolean {
  return byRule("", rule, tool, "", phrasesIn("en").policy)?.decision !== "deny";
}

/** The rules of each model that may answer, by model or vendor: a run may continue with another model. */
function modelRules({ models = {} }: ToolPolicy, facts: RunFacts): (readonly [string, ToolRule])[] {
  return (facts.models ?? [])
    .flatMap((model) => [model, model.slice(0, Math.max(0, model.indexOf("/")))])
    .flatMap((name) => (Object.hasOwn(models, name) ? [[name, models[name] ?? {}] as const] : []));
}

function byRule(
  name: string,
  rule: ToolRule,
  tool: string,
  whose: string,
  words: PolicyWords,
): Decision | undefined {
  if (matchesAny(rule.deny ?? [], tool))
    return { decision: "deny", rule: `${name}.deny`, reason: words.denied(tool, whose) };
  if (rule.allow !== undefined && !matchesAny(rule.allow, tool))
    return { decision: "deny", rule: `${name}.allow`, reason: words.notListed(tool, whose) };
  if (matchesAny(rule.ask ?? [], tool))
    return { decision: "ask", rule: `${name}.ask`, reason: words.asks(tool, whose) };
  return undefined;
}

/** When the rule requires a person's approval for a tool, by its name. */
export function askModeOf({ askModes = {} }: ToolRule, tool: string): AskMode {
  return Object.hasOwn(askModes, tool) ? (askModes[tool] ?? "never") : "never";
}

function byAskMode(
  mode: AskMode,
  { tool, facts, isCovered = false }: DecisionInput,
  words: PolicyWords,
): Decision | undefined {
  const ask = (reason: string): Decision => ({ decision: "ask", rule: `ask.${mode}`, reason });
  if (mode === "always") return ask(words.always(tool.name));
  if (mode === "unlisted") return isCovered ? undefined : ask(words.unlisted(tool.name));
  return mode === "tainted" && facts.taint.length > 0
    ? ask(words.tainted(tool.name, sourcesIn(facts)))
    : undefined;
}

/** Sources that a reason names. */
const MOST_SOURCES = 5;

function sourcesIn({ taint }: RunFacts): string[] {
  const all = taint.map(({ source, detail }) =>
    detail === undefined ? source : `${source} ${quoted(detail)}`,
  );
  const sources = [...new Set(all)];
  return sources.length > MOST_SOURCES ? [...sources.slice(0, MOST_SOURCES), "…"] : sources;
}

/** Characters of a detail that a reason names. */
const MOST_CHARS = 200;

/** A name that anybody may have given stands in a question to people as nothing but a name. */
function quoted(detail: string): string {
  return codeSpan(detail.length > MOST_CHARS ? `${detail.slice(0, MOST_CHARS - 1)}…` : detail);
}

/** What these roles do with an owner's word for it alone. */
const NEEDS_OWNER: Readonly<Partial<Record<Role, readonly ClaimKind[]>>> = {
  member: [
    "write-identity",
    "exec-network",
    "message-elsewhere",
    "read-elsewhere",
    "schedule",
    "read-config",
  ],
  system: ["write-identity", "exec-network", "read-elsewhere", "schedule", "read-config"],
};

function byClaim(claim: Claim, facts: RunFacts, words: PolicyWords): Decision | undefined {
  const { kind, detail } = claim;
  const { role } = facts;
  const what = words.claims[kind](quoted(detail));
  if (role === "guest") return { decision: "deny", rule: `guest.${kind}`, reason: words.guestMayNot(what) };
  if (kind === "read-identity") return undefined;
  if (facts.taint.length > 0)
    return { decision: "ask", rule: `taint.${kind}`, reason: words.hasSeen(sourcesIn(facts), what) };
  if (kind === "configure") return { decision: "ask", rule: "configure", reason: words.everybodyAsks(what) };
  if (NEEDS_OWNER[role]?.includes(kind) === true)
    return { decision: "ask", rule: `${role}.${kind}`, reason: words.roleAsks(role, what) };
  return undefined;
}
