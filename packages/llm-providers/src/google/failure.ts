import { classify, classifyException, type Failure, failure, retryAfterMs } from "../failure/failure.ts";
import { numberAt, objectAt, objectsAt, parseRaw, type Raw, textAt } from "../shared/json.ts";

/** Classifies an `error` object of the Gemini API: `{code, message, status, details}`. */
export function bodyFailure(error: Raw, status?: number, waitMs?: number): Failure {
  const details = objectsAt(error, "details");
  const reasons = details.map((detail) => textAt(detail, "reason"));
  const delay = details
    .map((detail) => /^(\d+(?:\.\d+)?)s$/.exec(textAt(detail, "retryDelay") ?? "")?.[1])
    .find(Boolean);
  const code = status ?? numberAt(error, "code");
  const message = textAt(error, "message") ?? "The server reported an error without a message.";
  const after = waitMs ?? (delay === undefined ? undefined : Math.ceil(Number(delay) * 1000));
  const facts = { status: code, words: [...reasons, textAt(error, "status")], retryAfterMs: after };
  // A used-up quota that the vendor says will be back is a rate limit, whatever its sentence says of billing.
  return code === 429 && after !== undefined
    ? failure("rate_limit", message, facts)
    : classify({ message, ...facts });
}

/**
 * Classifies what the SDK threw; it puts the whole body into the message.
 *
 * @param refused the refusal itself, for what the SDK leaves out.
 */
export function classifyError(error: unknown, now: number, refused?: Response): Failure {
  // The SDK gives up without a word of the status where a proxy answers with a page instead of JSON.
  const own = error instanceof Error && "status" in error ? error.status : refused?.status;
  if (!(error instanceof Error) || typeof own !== "number") return classifyException(error);
  const wait = retryAfterMs(refused?.headers, now);
  const body = parseRaw(error.message);
  if (body !== undefined) return bodyFailure(objectAt(body, "error"), own, wait);
  return classify({ message: error.message, status: own, retryAfterMs: wait });
}
