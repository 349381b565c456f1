import { type CallOutcome, type DecideCall, type DecidedRun, hashCall } from "./call-decision.ts";
import type { ToolPolicy } from "./policy.ts";
import { isAtLeast } from "./run-state.ts";
import type { Permit, ToolBlueprint } from "./types.ts";

interface StoredPermit {
  readonly argsHash: string;
  readonly version: number;
  readonly policy: ToolPolicy | undefined;
  readonly permit: Permit;
}

/**
 * The permits for one run's calls. The loop decides about a call before announcing it, so the permit is stored until
 * the call runs.
 */
export class Permits {
  readonly #decide: DecideCall;
  readonly #run: Pick<DecidedRun, "state" | "getCurrentRights">;
  readonly #stored = new Map<string, StoredPermit>();

  constructor(decide: DecideCall, run: Pick<DecidedRun, "state" | "getCurrentRights">) {
    this.#decide = decide;
    this.#run = run;
  }

  /** Decides about a call. Stores the permit if the call is allowed. */
  async decide(blueprint: ToolBlueprint, callId: string, args: unknown): Promise<CallOutcome> {
    const { outcome, ...basis } = await this.#decide(blueprint, callId, args);
    if (outcome.kind === "permit") {
      const argsHash = hashCall(blueprint.name, args);
      this.#stored.set(callId, { ...basis, argsHash, permit: outcome.permit });
    }
    return outcome;
  }

  /** Returns the stored permit for a call if it is still valid. Otherwise, decides about the call now. */
  async take(blueprint: ToolBlueprint, callId: string, args: unknown): Promise<CallOutcome> {
    const stored = this.#stored.get(callId);
    this.#stored.delete(callId);
    if (stored !== undefined && (await this.#isValid(stored, hashCall(blueprint.name, args))))
      return { kind: "permit", permit: stored.permit };
    return (await this.#decide(blueprint, callId, args)).outcome;
  }

  /** A permit is valid for the same arguments, the same state of the run and the same current rights. */
  async #isValid({ argsHash, version, policy }: StoredPermit, hash: string): Promise<boolean> {
    const { state, getCurrentRights } = this.#run;
    const current = await getCurrentRights();
    const isCurrent = current?.policy === policy && isAtLeast(current?.role ?? "guest", state.facts.role);
    return isCurrent && version === state.version && argsHash === hash;
  }
}
