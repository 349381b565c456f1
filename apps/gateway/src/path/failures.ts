import type { Judge } from "@signalbox/lanes";
import { isFatal, isPassing, type RunId, StoreError } from "@signalbox/store";

/** Starts of one run after which its messages are given up. */
export const POISON_ATTEMPTS = 3;

/** How often a store may refuse the same for a reason that does not pass by itself. */
const MOST_REFUSALS = 3;

/** The failure of the store that is behind an error, by itself or inside the loop of a run. */
export function storeErrorIn(error: unknown): StoreError | undefined {
  const cause = error instanceof Error && error.cause instanceof StoreError ? error.cause : error;
  return cause instanceof StoreError ? cause : undefined;
}

export function isStoreFailure(error: unknown): boolean {
  return storeErrorIn(error) !== undefined;
}

/** Whether a run holds the session that another one was to begin in. */
export function isBusy(error: unknown): boolean {
  return storeErrorIn(error)?.code === "busy";
}

/** A run of another process on the same store holds a session: until it ends, or that process is gone. */
export class HeldElsewhere extends Error {
  override readonly name = "HeldElsewhere";

  constructor(sessionKey: string, runId: RunId) {
    super(`the session ${sessionKey} is held by the run ${runId} of another process`);
  }
}

/** What a failure of the path means for the work that met it. */
export const judgeFailure: Judge = (error) => {
  const failure = storeErrorIn(error);
  if (failure === undefined) return "give-up";
  return isFatal(failure) ? "fatal" : "retry";
};

/** The same for a run, which the store may refuse for a reason that does not pass by itself. */
export const judgeRun: Judge = (error, failures) => {
  if (error instanceof HeldElsewhere) return "wait";
  const failure = storeErrorIn(error);
  const lasting = failure !== undefined && !isPassing(failure) && failures >= MOST_REFUSALS;
  const verdict = judgeFailure(error, failures);
  return verdict === "retry" && lasting ? "give-up" : verdict;
};
