import { classify, type Failure, type FailureFacts, failure, NOTHING_SAID } from "../failure/failure.ts";
import { type ErrorClassifier, refusalClassifier } from "../failure/refused.ts";
import { numberAt, objectAt, objectsAt, type Raw, textAt } from "../shared/json.ts";

/** Classifies an `error` object of the Gemini API: `{code, message, status, details}`. */
export function classifyBody(error: Raw, facts: FailureFacts = NOTHING_SAID): Failure {
  const details = objectsAt(error, "details");
  const delay = details
    .map((detail) => /^(\d+(?:\.\d+)?)s$/.exec(textAt(detail, "retryDelay") ?? "")?.[1])
    .find(Boolean);
  const refined = {
    status: facts.status ?? numberAt(error, "code"),
    words: [...details.map((detail) => textAt(detail, "reason")), textAt(error, "status")],
    retryAfterMs: facts.retryAfterMs ?? (delay === undefined ? undefined : Math.ceil(Number(delay) * 1000)),
  };
  const message = textAt(error, "message") ?? facts.message;
  // A used-up quota that the vendor says will be back is a rate limit, whatever its sentence says of billing.
  return refined.status === 429 && refined.retryAfterMs !== undefined
    ? failure("rate_limit", message, refined)
    : classify({ message, ...refined });
}

export const classifyError: ErrorClassifier = refusalClassifier((body, facts) =>
  classifyBody(objectAt(body, "error"), facts),
);
