import { type Decision, decide, type ToolPolicy } from "./policy.ts";
import type { ClaimKind, Role, RunFacts, TaintMark } from "./types.ts";

/** What calls of a built-in tool may reach for; a call that reaches for nothing is decided by the tool's name alone. */
const CLAIMS_OF: Readonly<Record<string, readonly ClaimKind[]>> = {
  read: ["read-identity"],
  ls: ["read-identity"],
  find: ["read-identity"],
  grep: ["read-identity"],
  write: ["write-identity"],
  edit: ["write-identity"],
  apply_patch: ["write-identity"],
  exec: ["exec-network"],
  message: ["message-elsewhere"],
  web_fetch: ["fetch-unseen"],
  cron: ["schedule"],
  image: ["read-identity"],
  gateway: ["read-config", "configure"],
  sessions_send: ["message-elsewhere"],
  sessions_list: ["read-elsewhere"],
  sessions_history: ["read-elsewhere"],
  memory_write: ["write-identity"],
  memory_forget: ["write-identity"],
};

/** How a call would be decided. */
export interface ExplainedUse {
  /** What the call reaches for; absent: nothing but the tool itself. */
  readonly reachesFor?: ClaimKind;
  readonly decision: Decision;
}

/** How calls of a tool would be decided in a run, with each thing that the tool may reach for. */
export function explainUse(policy: ToolPolicy, facts: RunFacts, tool: string): readonly ExplainedUse[] {
  const plain = decided(policy, facts, tool);
  const claims = plain.decision === "deny" || !Object.hasOwn(CLAIMS_OF, tool) ? [] : (CLAIMS_OF[tool] ?? []);
  return [
    { decision: plain },
    ...claims.map((reachesFor) => ({ reachesFor, decision: decided(policy, facts, tool, reachesFor) })),
  ];
}

function decided(policy: ToolPolicy, facts: RunFacts, tool: string, claim?: ClaimKind): Decision {
  const claims = claim === undefined ? [] : [{ kind: claim, detail: "any" }];
  return decide(policy, { tool: { name: tool, effects: "external" }, claims, facts });
}

/** Something that a run could do unasked although untrusted senders should not be able to cause it. */
export interface Reach {
  readonly tool: string;
  readonly role: Role;
  readonly channelKind: string;
  /** Whether the run has seen what others wrote; absent: it has not. */
  readonly tainted: boolean;
  readonly reachesFor?: ClaimKind;
}

export interface ReachProof {
  /** How many combinations were tried. */
  readonly tried: number;
  /** Those that are allowed; none where the policy holds. */
  readonly reached: readonly Reach[];
}

const CHANNEL_KINDS = ["direct", "group", "channel", "api"] as const;
const ROLES: readonly Role[] = ["owner", "member", "guest", "system"];
/** What changes or runs something, by the tool's name alone. */
const ACTING = ["exec", "process", "write", "edit", "apply_patch"];
const SEEN: readonly TaintMark[] = [{ source: "web" }];

/**
 * Tries every combination. A guest must reach nothing that runs or writes, and no conversation but its own. A run that
 * has seen others' words, whoever speaks in it, must ask before it uses the network, changes the agent's notes or
 * writes to another conversation.
 */
export function proveReach(policy: ToolPolicy): ReachProof {
  const attempts = CHANNEL_KINDS.flatMap((channelKind): Reach[] => [
    ...[false, true].flatMap((tainted) => [
      ...ACTING.map((tool): Reach => ({ tool, role: "guest", channelKind, tainted })),
      ...["message", "sessions_send"].map(
        (tool): Reach => ({ tool, role: "guest", channelKind, tainted, reachesFor: "message-elsewhere" }),
      ),
    ]),
    ...ROLES.flatMap((role) =>
      Object.entries(CLAIMS_OF).flatMap(([tool, claims]) =>
        claims
          .filter((claim) => claim !== "read-identity")
          .map((reachesFor): Reach => ({ tool, role, channelKind, tainted: true, reachesFor })),
      ),
    ),
  ]);
  return {
    tried: attempts.length,
    reached: attempts.filter(({ tool, role, channelKind, tainted, reachesFor }) => {
      const facts = { agentId: "", sessionKey: "", role, channelKind, taint: tainted ? SEEN : [] };
      return decided(policy, facts, tool, reachesFor).decision === "allow";
    }),
  };
}
