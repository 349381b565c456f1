import { callHash, type Judge, type JudgedRun, type Outcome } from "./judge.ts";
import type { ToolPolicy } from "./policy.ts";
import { isAtLeast } from "./run-state.ts";
import type { Permit, ToolBlueprint } from "./types.ts";

interface Kept {
  readonly argsHash: string;
  readonly version: number;
  readonly policy: ToolPolicy | undefined;
  readonly permit: Permit;
}

/** What the calls of one run are permitted: a permit that was given ahead is for one call that follows. */
export class Permits {
  readonly #judge: Judge;
  readonly #run: Pick<JudgedRun, "state" | "inForce">;
  readonly #kept = new Map<string, Kept>();

  constructor(judge: Judge, run: Pick<JudgedRun, "state" | "inForce">) {
    this.#judge = judge;
    this.#run = run;
  }

  /** Judges a call ahead; its permit, if it has one, is kept for it. */
  async judge(blueprint: ToolBlueprint, callId: string, args: unknown): Promise<Outcome> {
    const { outcome, ...judged } = await this.#judge(blueprint, callId, args);
    if (outcome.kind === "permit") {
      const argsHash = callHash(blueprint.name, args);
      this.#kept.set(callId, { ...judged, argsHash, permit: outcome.permit });
    }
    return outcome;
  }

  /** What is kept for a call, as long as it holds; else the call is judged now. */
  async take(blueprint: ToolBlueprint, callId: string, args: unknown): Promise<Outcome> {
    const kept = this.#kept.get(callId);
    this.#kept.delete(callId);
    if (kept !== undefined && (await this.#holds(kept, callHash(blueprint.name, args))))
      return { kind: "permit", permit: kept.permit };
    return (await this.#judge(blueprint, callId, args)).outcome;
  }

  /** A permit is for these very arguments, for the run as it was judged, and for what was in force then. */
  async #holds({ argsHash, version, policy }: Kept, hash: string): Promise<boolean> {
    const { state, inForce } = this.#run;
    const current = await inForce();
    const isInForce = current?.policy === policy && isAtLeast(current?.role ?? "guest", state.facts.role);
    return isInForce && version === state.version && argsHash === hash;
  }
}
