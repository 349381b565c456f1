import type { RetryPolicy } from "@signalbox/lanes";
import { isFatal, isPassing, storeErrorIn } from "@signalbox/store";

/** Starts of one run after which its messages are given up. */
export const POISON_ATTEMPTS = 3;

/** How often a store may refuse the same for a reason that does not pass by itself. */
const MOST_REFUSALS = 3;

/** A run of another process on the same store holds a session: until it ends, or that process is gone. */
export class HeldElsewhere extends Error {
  override readonly name = "HeldElsewhere";
}

/**
 * Whether a part of this program, which is loaded when it is first needed, is no longer there: another version took its
 * place on the disk. The next process has all of it.
 */
function isProgramGone(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error && "url" in error)) return false;
  return (
    error.code === "ERR_MODULE_NOT_FOUND" && String(error.url).startsWith(new URL(".", import.meta.url).href)
  );
}

/** What a failure of the path means for the work that met it. */
export const judgeFailure: RetryPolicy = (error) => {
  const failure = storeErrorIn(error);
  if (failure === undefined) return isProgramGone(error) ? "fatal" : "give_up";
  return isFatal(failure) ? "fatal" : "retry";
};

/** The same for a run. */
export const judgeRun: RetryPolicy = (error, failures) =>
  error instanceof HeldElsewhere ? "wait" : judgeLasting(error, failures);

/** The same for work that the store may refuse for a reason that does not pass by itself. */
export const judgeLasting: RetryPolicy = (error, failures) => {
  const failure = storeErrorIn(error);
  const lasting = failure !== undefined && !isPassing(failure) && failures >= MOST_REFUSALS;
  const verdict = judgeFailure(error, failures);
  return verdict === "retry" && lasting ? "give_up" : verdict;
};
