import type { Approval } from "./approval-store.ts";
import type { StandingRules } from "./persistence/standing-rules.ts";
import type { Questions } from "./questions.ts";

/** `allow` is for once; `allow-always` also lets the same commands run unasked from now on. */
export type ApprovalDecision = "allow" | "allow-always" | "deny";

/** The questions of tools, as people answer them. */
export interface Decisions extends Omit<Questions, "resolve"> {
  resolve(id: string, decision: ApprovalDecision, approver: string): ReturnType<Questions["resolve"]>;
}

export interface DecisionsOptions {
  readonly rules: Pick<StandingRules, "add">;
  /** Told of each decision, once it counts. */
  readonly onDecided: (approval: Approval, approver: string) => void;
}

/** Takes decisions that may be for always. */
export function createDecisions(questions: Questions, { rules, onDecided }: DecisionsOptions): Decisions {
  return {
    list: (filter) => questions.list(filter),
    wait: (id, signal) => questions.wait(id, signal),
    take: (request, call) => questions.take(request, call),
    request: (request) => questions.request(request),
    close: (reason) => questions.close(reason),
    closed: questions.closed,
    async resolve(id, decision, approver) {
      const outcome = await questions.resolve(id, decision === "deny" ? "deny" : "allow", approver);
      if (!outcome.ok) return outcome;
      const { agentId, subject } = outcome.approval;
      // It counts by now, whatever becomes of the rule.
      onDecided(outcome.approval, approver);
      if (decision === "allow-always") await rules.add(agentId, subject.rules ?? []);
      return outcome;
    },
  };
}
