import type { ToolEffects } from "@signalbox/agent-core";
import { matchesAny } from "./tool-names.ts";
import type { Claim, ClaimKind, Role, RunFacts, Verdict } from "./types.ts";

/** Lists of tool names; see `matchesName` for what they may hold besides names. */
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

const ROLE_WORDS: Readonly<Record<Role, string>> = {
  owner: "an owner",
  member: "a member",
  guest: "a guest",
  system: "the gateway by itself",
};

/** What policy decided, before it is put on record. */
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
}

/**
 * Decides about one call. Pure. A call must be allowed by the agent, the role, the kind of conversation, each model
 * that may answer and, in a subagent, the parent run; a denial anywhere wins over a question anywhere.
 */
export function decide(policy: ToolPolicy, input: DecisionInput): Decision {
  const { tool, facts } = input;
  const verdicts = [
    byRule("agent", policy, tool.name, `the agent ${facts.agentId}`),
    byRule(
      `role.${facts.role}`,
      policy.roles?.[facts.role] ?? DEFAULT_ROLES[facts.role],
      tool.name,
      ROLE_WORDS[facts.role],
    ),
    byRule(
      `channel.${facts.channelKind}`,
      policy.channelKinds?.[facts.channelKind] ?? {},
      tool.name,
      `a ${facts.channelKind} conversation`,
    ),
    ...byModels(policy, tool.name, facts),
    byRule(
      "parent",
      facts.parentTools === undefined ? {} : { allow: facts.parentTools },
      tool.name,
      "the parent run",
    ),
    byAskMode(askModeOf(policy, tool.name), input),
    ...input.claims.map((claim) => byClaim(claim, facts)),
  ];
  return (
    verdicts.find((verdict) => verdict?.decision === "deny") ??
    verdicts.find((verdict) => verdict?.decision === "ask") ?? {
      decision: "allow",
      rule: "agent.allow",
      reason: `${tool.name} is allowed for the agent ${facts.agentId} and ${ROLE_WORDS[facts.role]}.`,
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
  return strictest.find((decision) => decision !== undefined) ?? NO_POLICY;
}

const NO_POLICY: Decision = {
  decision: "deny",
  rule: "policy.none",
  reason: "Who asked for this may ask for nothing here any more.",
};

/** Whether a run could use a tool at all, so that the model should see it. */
export function offers(policy: ToolPolicy, tool: DecisionInput["tool"], facts: RunFacts): boolean {
  return decide(policy, { tool, facts, claims: [] }).decision !== "deny";
}

/** Whether a rule lets a tool be used at all, asking first or not. */
export function allowsTool(rule: ToolRule, tool: string): boolean {
  return byRule("", rule, tool, "")?.decision !== "deny";
}

/** A run may go on with another model than it began with. */
function byModels({ models }: ToolPolicy, tool: string, facts: RunFacts): (Decision | undefined)[] {
  if (models === undefined) return [];
  return (facts.models ?? []).flatMap((model) =>
    [model, model.slice(0, Math.max(0, model.indexOf("/")))].map((name) =>
      Object.hasOwn(models, name)
        ? byRule(`model.${name}`, models[name] ?? {}, tool, `the model ${name}`)
        : undefined,
    ),
  );
}

function byRule(name: string, rule: ToolRule, tool: string, whose: string): Decision | undefined {
  if (matchesAny(rule.deny ?? [], tool)) {
    return { decision: "deny", rule: `${name}.deny`, reason: `${tool} is denied for ${whose}.` };
  }
  if (rule.allow !== undefined && !matchesAny(rule.allow, tool)) {
    return { decision: "deny", rule: `${name}.allow`, reason: `${tool} is not among the tools of ${whose}.` };
  }
  if (matchesAny(rule.ask ?? [], tool)) {
    return { decision: "ask", rule: `${name}.ask`, reason: `${tool} needs an approval for ${whose}.` };
  }
  return undefined;
}

/** When a person is asked about a tool, as far as the rule says so by its name. */
export function askModeOf({ askModes = {} }: ToolRule, tool: string): AskMode {
  return Object.hasOwn(askModes, tool) ? (askModes[tool] ?? "never") : "never";
}

function byAskMode(mode: AskMode, { tool, facts, isCovered = false }: DecisionInput): Decision | undefined {
  const ask = (why: string): Decision => ({
    decision: "ask",
    rule: `ask.${mode}`,
    reason: `The configuration has ${tool.name} asked about ${why}.`,
  });
  if (mode === "always") return ask("each time");
  if (mode === "unlisted") return isCovered ? undefined : ask("where no standing rule covers it");
  return mode === "tainted" && facts.taint.length > 0
    ? ask(`after content from ${sourcesIn(facts)}`)
    : undefined;
}

function sourcesIn({ taint }: RunFacts): string {
  const sources = taint.map(({ source, detail }) => (detail === undefined ? source : `${source} ${detail}`));
  return [...new Set(sources)].join(", ");
}

const CLAIM_WORDS: Readonly<Record<ClaimKind, string>> = {
  "read-identity": "read the agent's own notes",
  "write-identity": "change the agent's own notes",
  "exec-network": "run a program that can reach the network",
  "message-elsewhere": "write to another conversation",
  "read-elsewhere": "look into other conversations",
  schedule: "change what runs by itself",
  "fetch-unseen": "fetch an address that was given to it by nobody",
  "read-config": "look into the gateway and its configuration",
  configure: "change the gateway's configuration",
};

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

function byClaim(claim: Claim, facts: RunFacts): Decision | undefined {
  const what = `${CLAIM_WORDS[claim.kind]} (${claim.detail})`;
  if (facts.role === "guest") {
    return { decision: "deny", rule: `guest.${claim.kind}`, reason: `A guest may not ${what}.` };
  }
  if (claim.kind === "read-identity") return undefined;
  if (facts.taint.length > 0) {
    return {
      decision: "ask",
      rule: `taint.${claim.kind}`,
      reason: `This run has seen content from ${sourcesIn(facts)}; to ${what} it needs an approval.`,
    };
  }
  if (claim.kind === "configure")
    return { decision: "ask", rule: "configure", reason: `Whoever wants to ${what} needs an approval.` };
  if (NEEDS_OWNER[facts.role]?.includes(claim.kind) === true) {
    const who = facts.role === "system" ? "The gateway by itself" : `A ${facts.role}`;
    return {
      decision: "ask",
      rule: `${facts.role}.${claim.kind}`,
      reason: `${who} needs an approval to ${what}.`,
    };
  }
  return undefined;
}
