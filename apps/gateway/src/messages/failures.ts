import type { RetryPolicy } from "@signalbox/lanes";
import { getStoreError, isFatal, isRetryable } from "@signalbox/store";

/** Number of started attempts after which a run's messages are given up. */
export const POISON_ATTEMPTS = 3;

/** Maximum number of attempts after a permanent store error. */
const MAX_REFUSALS = 3;

/** Thrown if a run of another process on the same store holds the session. The hold ends with that run or process. */
export class SessionBusyError extends Error {
  override readonly name = "SessionBusyError";
}

/**
 * Returns true if a lazily imported file is missing because another version was installed. The next process has all
 * files.
 */
function isProgramReplaced(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error && "url" in error)) return false;
  return (
    error.code === "ERR_MODULE_NOT_FOUND" && String(error.url).startsWith(new URL(".", import.meta.url).href)
  );
}

/** Decides whether a failed pipeline operation is retried, ended or left to the next process. */
export const classifyFailure: RetryPolicy = (error) => {
  const failure = getStoreError(error);
  if (failure === undefined) return isProgramReplaced(error) ? "fatal" : "give_up";
  return isFatal(failure) ? "fatal" : "retry";
};

/** Classifies a failure of a run. */
export const classifyRunFailure: RetryPolicy = (error, failures) =>
  error instanceof SessionBusyError ? "wait" : classifyPermanentFailure(error, failures);

/** Classifies a failure of an operation that the store may reject permanently. */
export const classifyPermanentFailure: RetryPolicy = (error, failures) => {
  const failure = getStoreError(error);
  const permanent = failure !== undefined && !isRetryable(failure) && failures >= MAX_REFUSALS;
  const verdict = classifyFailure(error, failures);
  return verdict === "retry" && permanent ? "give_up" : verdict;
};
