import type { ToolEffects } from "@signalbox/agent-core";
import type { Claim, ClaimKind, Role, RunFacts, Verdict } from "./types.ts";

/**
 * Lists of tool names. `*` is every tool, a trailing `*` every name that starts so, `group:<name>` a group of
 * `TOOL_GROUPS`.
 */
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
 * When a person is asked about calls of a tool: each time; where no standing rule covers the call; where the run has seen
 * what others wrote; or for no other reason than what the call reaches for.
 */
export type AskMode = "always" | "unlisted" | "tainted" | "never";

/** What an agent's runs may use: the agent's own rule, narrowed by role and by kind of conversation. */
export interface ToolPolicy extends ToolRule {
  /** Replaces the default of a role: everything, but `read` and `ls` alone for guests. */
  readonly roles?: Partial<Record<Role, ToolRule>>;
  readonly channelKinds?: Readonly<Record<string, ToolRule>>;
}

export const TOOL_GROUPS: Readonly<Record<string, readonly string[]>> = {
  read: ["read", "ls"],
  fs: ["read", "write", "edit", "ls"],
  runtime: ["exec"],
  messaging: ["message"],
  web: ["web_fetch"],
  memory: ["memory_search", "memory_get", "memory_write", "memory_forget"],
};

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
 * Decides about one call. Pure. A call must be allowed by the agent, the role, the kind of conversation and, in a
 * subagent, the parent run; a denial anywhere wins over a question anywhere.
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

/** Whether a run could use a tool at all, so that the model should see it. */
export function offers(policy: ToolPolicy, tool: DecisionInput["tool"], facts: RunFacts): boolean {
  return decide(policy, { tool, facts, claims: [] }).decision !== "deny";
}

/** Whether a rule lets a tool be used at all, asking first or not. */
export function allowsTool(rule: ToolRule, tool: string): boolean {
  return byRule("", rule, tool, "")?.decision !== "deny";
}

function byRule(name: string, rule: ToolRule, tool: string, whose: string): Decision | undefined {
  if (matches(rule.deny ?? [], tool)) {
    return { decision: "deny", rule: `${name}.deny`, reason: `${tool} is denied for ${whose}.` };
  }
  if (rule.allow !== undefined && !matches(rule.allow, tool)) {
    return { decision: "deny", rule: `${name}.allow`, reason: `${tool} is not among the tools of ${whose}.` };
  }
  if (matches(rule.ask ?? [], tool)) {
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
  schedule: "change what runs by itself",
  "fetch-unseen": "fetch an address that was given to it by nobody",
};

/** What these roles do with an owner's word for it alone. */
const NEEDS_OWNER: Readonly<Partial<Record<Role, readonly ClaimKind[]>>> = {
  member: ["write-identity", "exec-network", "message-elsewhere", "schedule"],
  system: ["write-identity", "exec-network", "schedule"],
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

function matches(patterns: readonly string[], tool: string): boolean {
  return patterns.some((pattern) => matchesOne(pattern, tool));
}

function matchesOne(pattern: string, tool: string): boolean {
  if (pattern.startsWith("group:")) return groupOf(pattern)?.includes(tool) ?? false;
  if (pattern.endsWith("*")) return tool.startsWith(pattern.slice(0, -1));
  return pattern === tool;
}

function groupOf(pattern: string): readonly string[] | undefined {
  const name = pattern.slice("group:".length);
  return Object.hasOwn(TOOL_GROUPS, name) ? TOOL_GROUPS[name] : undefined;
}

/** A name in a list that stands for no tool. */
export interface UnknownToolName {
  readonly name: string;
  /** The name of a tool that comes nearest. */
  readonly suggestion?: string;
}

/** Finds the names in lists of a configuration that stand for no tool. */
export function checkToolNames(
  names: readonly string[],
  existing: readonly string[],
): readonly UnknownToolName[] {
  const groups = Object.keys(TOOL_GROUPS).map((name) => `group:${name}`);
  return [...new Set(names)].flatMap((name) => {
    const standsForTool = name.startsWith("group:")
      ? groupOf(name) !== undefined
      : name === "*" || existing.some((tool) => matchesOne(name, tool));
    if (standsForTool) return [];
    const suggestion = nearest(name, [...existing, ...groups]);
    return [suggestion === undefined ? { name } : { name, suggestion }];
  });
}

function nearest(name: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a.charAt(i - 1) === b.charAt(j - 1) ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
