import { canonicalJson, reasonOf } from "@signalbox/agent-core";
import type { Phrases } from "@signalbox/phrases";
import type { Approval, ApprovalRequest, Requester } from "./approval-store.ts";
import { type Approvals, createApprovalRequest } from "./approvals.ts";
import { escapeInvisible } from "./escape.ts";
import { hashJson } from "./hash.ts";
import {
  type Decision,
  decideByPolicies,
  type GetCurrentRights,
  getAskMode,
  type ToolPolicy,
} from "./policy.ts";
import { cleanRequester } from "./requester.ts";
import type { RunState } from "./run-state.ts";
import type { AllowRule } from "./shell/allow-rule.ts";
import type { Claim, DecisionRecord, Permit, RunFacts, ToolBlueprint } from "./types.ts";

export interface CallDecisionOptions {
  readonly policy: ToolPolicy;
  /** Records a decision. If recording fails, the call does not run. */
  readonly record: (record: DecisionRecord) => void | Promise<void>;
  /** Default: calls that need approval are denied. */
  readonly approvals?: Pick<Approvals, "request" | "take" | "wait">;
  /** Calls that run without approval in the mode `unlisted`. Default: none. */
  readonly allowRules?: () => readonly AllowRule[] | Promise<readonly AllowRule[]>;
  /** Returns the time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/** The run that makes the calls. */
export interface DecidedRun {
  readonly state: RunState;
  readonly getCurrentRights: GetCurrentRights;
  /** Stays the same if the run continues after a restart. Without it, approvals are not reused after a restart. */
  readonly runId?: string | undefined;
  /** Language of the reasons shown to people. Records are always in English. Default: English. */
  readonly phrases?: Phrases | undefined;
  /** Shown in approval requests. Default: they do not name a person. */
  readonly requester?: Requester | undefined;
}

/** The outcome of a decision about a call. Every outcome is recorded. */
export type CallOutcome =
  | { readonly kind: "permit"; readonly permit: Permit }
  | { readonly kind: "deny"; readonly reason: string }
  | { readonly kind: "ask"; readonly reason: string; readonly approval: Approval };

/** An outcome, with the version of the run's state and the current policy on which it is based. */
interface CallDecision {
  readonly outcome: CallOutcome;
  readonly version: number;
  readonly policy: ToolPolicy | undefined;
}

export type DecideCall = (blueprint: ToolBlueprint, callId: string, args: unknown) => Promise<CallDecision>;

/**
 * Creates the function that decides about one run's calls. It considers the claims of the call, the policy at the start
 * of the run, the current policy, and people's approvals.
 */
export function createCallDecider(options: CallDecisionOptions, run: DecidedRun): DecideCall {
  const { state, getCurrentRights } = run;
  return async (blueprint, callId, args) => {
    const current = await getCurrentRights();
    if (current !== undefined) state.addSpeaker(current.role, state.facts.speaker);
    try {
      for (const mark of (await blueprint.exposes?.(args, state.facts)) ?? []) state.taint(mark);
    } catch {
      state.taint({ source: "other", detail: blueprint.name });
    }
    const { version } = state;
    const policies = current === undefined ? [] : [...new Set([options.policy, current.policy])];
    const outcome = await decideCall(options, run, policies, blueprint, callId, args);
    return { outcome, version, policy: current?.policy };
  };
}

async function decideCall(
  options: CallDecisionOptions,
  { state, runId, phrases, requester }: DecidedRun,
  policies: readonly ToolPolicy[],
  blueprint: ToolBlueprint,
  callId: string,
  args: unknown,
): Promise<CallOutcome> {
  const now = options.now ?? Date.now;
  const facts = state.facts;
  const argsHash = hashCall(blueprint.name, args);
  let claims: readonly Claim[] = [];
  let decision: Decision;
  let translated: string | undefined;
  try {
    claims = (await blueprint.claims?.(args, facts)) ?? [];
    const covered = policies.map(async (policy) => {
      return { policy, isCovered: await isCoveredByRule(options, policy, blueprint, args) };
    });
    const by = await Promise.all(covered);
    const input = { tool: blueprint, claims, facts };
    decision = decideByPolicies(by, input);
    if (phrases !== undefined && decision.decision === "ask")
      translated = decideByPolicies(by, { ...input, phrases }).reason;
  } catch (error) {
    decision = {
      decision: "deny",
      rule: "claims_failed",
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
    const reason = `${decision.reason} Nobody can approve it here.`;
    await write({ ...decision, decision: "deny", reason });
    return { kind: "deny", reason };
  }
  const request = {
    ...(await toRequest(blueprint, args, facts, translated ?? decision.reason)),
    ...(requester === undefined ? {} : { requester: cleanRequester(requester) }),
  };
  const existing = await options.approvals.take(request, runId === undefined ? undefined : { runId, callId });
  if (existing !== undefined) {
    const reason = `Approved by ${existing.approver ?? "someone"}: ${decision.reason}`;
    const record = await write({ decision: "allow", rule: `approval:${existing.id}`, reason });
    return { kind: "permit", permit: { record, approved: true, subject: request.subject, run: state } };
  }
  const approval = await options.approvals.request(request);
  await write(decision);
  return { kind: "ask", reason: decision.reason, approval };
}

async function isCoveredByRule(
  { allowRules }: CallDecisionOptions,
  policy: ToolPolicy,
  blueprint: ToolBlueprint,
  args: unknown,
): Promise<boolean> {
  if (getAskMode(policy, blueprint.name) !== "unlisted" || allowRules === undefined) return false;
  return (await blueprint.isCovered?.(args, await allowRules())) ?? false;
}

async function toRequest(
  blueprint: ToolBlueprint,
  args: unknown,
  facts: RunFacts,
  reason: string,
): Promise<ApprovalRequest> {
  const exact = (await blueprint.subject?.(args, facts)) ?? { action: canonicalJson(args) };
  // People see the action with invisible characters escaped. The hash binds the approval to the exact action.
  const subject = { ...exact, action: escapeInvisible(exact.action), sha256: hashJson(exact.action) };
  return createApprovalRequest(blueprint.name, subject, facts, escapeInvisible(reason));
}

/** Returns the SHA-256 of a tool's name and arguments in hexadecimal. */
export function hashCall(tool: string, args: unknown): string {
  return hashJson({ tool, args });
}
