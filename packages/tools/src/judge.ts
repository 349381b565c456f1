import { canonicalJson, reasonOf } from "@signalbox/agent-core";
import type { Phrases } from "@signalbox/phrases";
import type { Approval, ApprovalRequest } from "./approval-store.ts";
import { type Approvals, approvalRequest } from "./approvals.ts";
import { hashOf } from "./hash.ts";
import type { LooksUpInForce } from "./in-force.ts";
import { askModeOf, type Decision, decideByAll, type ToolPolicy } from "./policy.ts";
import type { RunState } from "./run-state.ts";
import type { StandingRule } from "./shell/standing-rules.ts";
import type { Claim, DecisionRecord, Permit, RunFacts, ToolBlueprint } from "./types.ts";
import { visibleText } from "./visible.ts";

export interface JudgeOptions {
  readonly policy: ToolPolicy;
  /** Records a decision. If it fails, the call does not run. */
  readonly record: (record: DecisionRecord) => void | Promise<void>;
  /** Without it, calls that need an approval are refused. */
  readonly approvals?: Approvals;
  /** What may run unasked in the mode `unlisted`. Default: nothing. */
  readonly standingRules?: () => readonly StandingRule[] | Promise<readonly StandingRule[]>;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
}

/** What one run is judged by. */
export interface JudgedRun {
  readonly state: RunState;
  readonly inForce: LooksUpInForce;
  /** The same id when the run continues after a restart. Default: none of its calls continues. */
  readonly runId?: string | undefined;
  /** The language in which people are told why they are asked. Default English, which is also what is recorded. */
  readonly phrases?: Phrases | undefined;
}

/** The outcome of a call, which is always recorded. */
export type Outcome =
  | { readonly kind: "permit"; readonly permit: Permit }
  | { readonly kind: "deny"; readonly reason: string }
  | { readonly kind: "ask"; readonly reason: string; readonly approval: Approval };

/** An outcome, with the version of the run's state and the policy in force that it is about. */
interface Judgement {
  readonly outcome: Outcome;
  readonly version: number;
  readonly policy: ToolPolicy | undefined;
}

export type Judge = (blueprint: ToolBlueprint, callId: string, args: unknown) => Promise<Judgement>;

/**
 * Decides about one call of a run: by its claims, by the policy that the run began with and the one in force now, and
 * by a person's decision.
 */
export function createJudge(options: JudgeOptions, run: JudgedRun): Judge {
  const { state, inForce } = run;
  return async (blueprint, callId, args) => {
    const current = await inForce();
    if (current !== undefined) state.spoke(current.role, state.facts.speaker);
    try {
      for (const mark of (await blueprint.exposes?.(args, state.facts)) ?? []) state.taint(mark);
    } catch {
      state.taint({ source: "other", detail: blueprint.name });
    }
    const { version } = state;
    const policies = current === undefined ? [] : [...new Set([options.policy, current.policy])];
    const outcome = await judge(options, run, policies, blueprint, callId, args);
    return { outcome, version, policy: current?.policy };
  };
}

async function judge(
  options: JudgeOptions,
  { state, runId, phrases }: JudgedRun,
  policies: readonly ToolPolicy[],
  blueprint: ToolBlueprint,
  callId: string,
  args: unknown,
): Promise<Outcome> {
  const now = options.now ?? Date.now;
  const facts = state.facts;
  const argsHash = callHash(blueprint.name, args);
  let claims: readonly Claim[] = [];
  let decision: Decision;
  let told: string | undefined;
  try {
    claims = (await blueprint.claims?.(args, facts)) ?? [];
    const covered = policies.map(async (policy) => {
      return { policy, isCovered: await coveredByRule(options, policy, blueprint, args) };
    });
    const by = await Promise.all(covered);
    const input = { tool: blueprint, claims, facts };
    decision = decideByAll(by, input);
    if (phrases !== undefined && decision.decision === "ask")
      told = decideByAll(by, { ...input, phrases }).reason;
  } catch (error) {
    decision = {
      decision: "deny",
      rule: "claims.failed",
      reason: `${blueprint.name}: ${reasonOf(error)}`,
    };
  }
  const write = async (verdict: Decision): Promise<DecisionRecord> => {
    const { agentId, sessionKey, role, channelKind, taint } = facts;
    const about = { tool: blueprint.name, callId, argsHash, claims, at: now() };
    const record = Object.freeze({ ...verdict, ...about, agentId, sessionKey, role, channelKind, taint });
    await options.record(record);
    return record;
  };
  if (decision.decision === "allow") {
    return { kind: "permit", permit: { record: await write(decision), approved: false, run: state } };
  }
  if (decision.decision === "deny") {
    await write(decision);
    return { kind: "deny", reason: decision.reason };
  }
  if (options.approvals === undefined) {
    const reason = `${decision.reason} There is nobody to ask here.`;
    await write({ ...decision, decision: "deny", reason });
    return { kind: "deny", reason };
  }
  const request = await requestFor(blueprint, args, facts, told ?? decision.reason);
  const granted = await options.approvals.take(request, runId === undefined ? undefined : { runId, callId });
  if (granted !== undefined) {
    const reason = `Approved by ${granted.approver ?? "someone"}: ${decision.reason}`;
    const record = await write({ decision: "allow", rule: `approval:${granted.id}`, reason });
    return { kind: "permit", permit: { record, approved: true, subject: request.subject, run: state } };
  }
  const approval = await options.approvals.request(request);
  await write(decision);
  return { kind: "ask", reason: decision.reason, approval };
}

/** Rules are looked at only where they count. */
async function coveredByRule(
  { standingRules }: JudgeOptions,
  policy: ToolPolicy,
  blueprint: ToolBlueprint,
  args: unknown,
): Promise<boolean> {
  if (askModeOf(policy, blueprint.name) !== "unlisted" || standingRules === undefined) return false;
  return (await blueprint.isCovered?.(args, await standingRules())) ?? false;
}

async function requestFor(
  blueprint: ToolBlueprint,
  args: unknown,
  facts: RunFacts,
  reason: string,
): Promise<ApprovalRequest> {
  const exact = (await blueprint.subject?.(args, facts)) ?? { action: canonicalJson(args) };
  // Shown escaped, bound as it is.
  const subject = { ...exact, action: visibleText(exact.action), sha256: hashOf(exact.action) };
  return approvalRequest(blueprint.name, subject, facts, visibleText(reason));
}

/** SHA-256 of a call, as hexadecimal digits. */
export function callHash(tool: string, args: unknown): string {
  return hashOf({ tool, args });
}
