import {
  classify,
  classifyException,
  type Failure,
  type FailureFacts,
  refusalOf,
  retryAfterMs,
} from "../failure/failure.ts";
import { isRaw, objectAt, type Raw, textAt } from "../shared/json.ts";

/** What an `error` object of the API says: `{type, message}`, with a more specific `details.error_code` at times. */
export function bodyFailure(error: Raw, facts: Omit<FailureFacts, "message"> = {}): Failure {
  return classify({
    message: textAt(error, "message") ?? "The vendor reported an error without a message.",
    ...facts,
    words: [textAt(objectAt(error, "details"), "error_code"), textAt(error, "type")],
  });
}

/** Classifies what the SDK threw: the vendor's refusal by its body, anything else as an exception. */
export function classifyError(error: unknown, now: number): Failure {
  const refusal = refusalOf(error);
  if (refusal === undefined) return classifyException(error);
  const { message, status, headers, body } = refusal;
  const requestId = headers?.get("request-id") ?? undefined;
  const facts = { status, retryAfterMs: retryAfterMs(headers, now), requestId };
  const said = isRaw(body) ? objectAt(body, "error") : {};
  return textAt(said, "message") === undefined ? classify({ message, ...facts }) : bodyFailure(said, facts);
}
