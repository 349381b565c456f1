import type { RetryPolicy } from "@signalbox/lanes";
import { getStoreError, isFatal, isRetryable } from "@signalbox/store";

/** Starts of one run after which its messages are given up. */
export const POISON_ATTEMPTS = 3;

/** How often a permanent store error is retried. */
const MOST_REFUSALS = 3;

/** A run of another process on the same store holds a session: until it ends, or that process is gone. */
export class HeldElsewhere extends Error {
  override readonly name = "HeldElsewhere";
}

/** Whether a lazily imported file is missing because another version was installed. The next process has all files. */
function isProgramGone(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error && "url" in error)) return false;
  return (
    error.code === "ERR_MODULE_NOT_FOUND" && String(error.url).startsWith(new URL(".", import.meta.url).href)
  );
}

/** Decides whether failed pipeline work is retried, ended or left to the next process. */
export const judgeFailure: RetryPolicy = (error) => {
  const failure = getStoreError(error);
  if (failure === undefined) return isProgramGone(error) ? "fatal" : "give_up";
  return isFatal(failure) ? "fatal" : "retry";
};

/** The same for a run. */
export const judgeRun: RetryPolicy = (error, failures) =>
  error instanceof HeldElsewhere ? "wait" : judgeLasting(error, failures);

/** The same for work that the store may refuse for a reason that does not pass by itself. */
export const judgeLasting: RetryPolicy = (error, failures) => {
  const failure = getStoreError(error);
  const lasting = failure !== undefined && !isRetryable(failure) && failures >= MOST_REFUSALS;
  const verdict = judgeFailure(error, failures);
  return verdict === "retry" && lasting ? "give_up" : verdict;
};
