import type { Phrases } from "@signalbox/phrases";
import { type Decision, decideByPolicy, type ToolPolicy } from "./policy.ts";
import type { ClaimKind, Role, RunFacts, TaintMark } from "./types.ts";

/** The claims that calls of each built-in tool can have. For calls of other tools, only the tool name matters. */
const CLAIMS: Readonly<Record<string, readonly ClaimKind[]>> = {
  read: ["read_identity"],
  ls: ["read_identity"],
  find: ["read_identity"],
  grep: ["read_identity"],
  write: ["write_identity"],
  edit: ["write_identity"],
  apply_patch: ["write_identity"],
  exec: ["exec_network"],
  message: ["message_elsewhere"],
  web_fetch: ["fetch_unseen"],
  browser_navigate: ["fetch_unseen"],
  browser_click: ["operate_page"],
  browser_type: ["operate_page"],
  browser_select: ["operate_page"],
  browser_press_key: ["operate_page"],
  browser_dialog: ["operate_page"],
  browser_save_download: ["save_download", "write_identity"],
  cron: ["schedule"],
  image: ["read_identity"],
  gateway: ["read_config", "configure"],
  sessions_send: ["message_elsewhere"],
  sessions_list: ["read_elsewhere"],
  sessions_history: ["read_elsewhere"],
  memory_write: ["write_identity"],
  memory_forget: ["forget_memory"],
};

/** The decision for a hypothetical call of a tool. */
export interface ExplainedUse {
  /** The claim of the call, if it has one. */
  readonly claim?: ClaimKind;
  readonly decision: Decision;
}

/**
 * Returns the decisions for hypothetical calls of a tool in a run: one without a claim, and one for each claim that the
 * tool can have.
 *
 * @param phrases language of the reasons. Default: English.
 */
export function explainUse(
  policy: ToolPolicy,
  facts: RunFacts,
  tool: string,
  phrases?: Phrases,
): readonly ExplainedUse[] {
  const decide = (claim?: ClaimKind): Decision => decideCall(policy, facts, tool, claim, phrases);
  const plain = decide();
  const claims = plain.decision === "deny" || !Object.hasOwn(CLAIMS, tool) ? [] : (CLAIMS[tool] ?? []);
  return [{ decision: plain }, ...claims.map((claim) => ({ claim, decision: decide(claim) }))];
}

function decideCall(
  policy: ToolPolicy,
  facts: RunFacts,
  tool: string,
  claim?: ClaimKind,
  phrases?: Phrases,
): Decision {
  const claims = claim === undefined ? [] : [{ kind: claim, detail: "any" }];
  return decideByPolicy(policy, { tool: { name: tool, effects: "external" }, claims, facts, phrases });
}

/** A call that would run without approval although an untrusted sender might have caused it. */
interface UnsafeCall {
  readonly tool: string;
  readonly role: Role;
  readonly channelKind: string;
  /** True if the run has read untrusted content. */
  readonly tainted: boolean;
  readonly claim?: ClaimKind;
}

export interface PolicyCheck {
  /** Number of combinations that were checked. */
  readonly checked: number;
  /** Calls that the policy allows although it should not. */
  readonly unsafe: readonly UnsafeCall[];
}

const CHANNEL_KINDS = ["direct", "group", "channel", "api"] as const;
const ROLES: readonly Role[] = ["owner", "member", "guest", "system"];
/** Tools that change or run something. */
const ACTING = ["exec", "process", "write", "edit", "apply_patch"];
const TAINT: readonly TaintMark[] = [{ source: "web" }];

/**
 * Checks a policy against every combination of tool, role, conversation kind and claim. Guests must not be able to run
 * commands, write files or write to other conversations. A tainted run of any role must need approval to use the
 * network, change the agent's notes or write to another conversation.
 */
export function checkPolicy(policy: ToolPolicy): PolicyCheck {
  const attempts = CHANNEL_KINDS.flatMap((channelKind): UnsafeCall[] => [
    ...[false, true].flatMap((tainted) => [
      ...ACTING.map((tool): UnsafeCall => ({ tool, role: "guest", channelKind, tainted })),
      ...["message", "sessions_send"].map(
        (tool): UnsafeCall => ({ tool, role: "guest", channelKind, tainted, claim: "message_elsewhere" }),
      ),
    ]),
    ...ROLES.flatMap((role) =>
      Object.entries(CLAIMS).flatMap(([tool, claims]) =>
        claims
          .filter((claim) => claim !== "read_identity")
          .map((claim): UnsafeCall => ({ tool, role, channelKind, tainted: true, claim })),
      ),
    ),
  ]);
  return {
    checked: attempts.length,
    unsafe: attempts.filter(({ tool, role, channelKind, tainted, claim }) => {
      const facts = { agentId: "", sessionKey: "", role, channelKind, taint: tainted ? TAINT : [] };
      return decideCall(policy, facts, tool, claim).decision === "allow";
    }),
  };
}
