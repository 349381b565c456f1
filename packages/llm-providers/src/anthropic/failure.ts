import { classify, classifyException, type Failure, retryAfterMs } from "../failure/failure.ts";
import { isRaw, objectAt, type Raw, textAt } from "../shared/json.ts";

/** What an `error` object of the API says: `{type, message}`, with a more specific `details.error_code` at times. */
export function bodyFailure(
  error: Raw,
  facts: Omit<Parameters<typeof classify>[0], "message"> = {},
): Failure {
  return classify({
    message: textAt(error, "message") ?? "The vendor reported an error without a message.",
    ...facts,
    words: [textAt(objectAt(error, "details"), "error_code"), textAt(error, "type")],
  });
}

/** Classifies what the SDK threw: the vendor's refusal by its body, anything else as an exception. */
export function classifyError(error: unknown, now: number): Failure {
  if (!(error instanceof Error) || !("status" in error) || typeof error.status !== "number")
    return classifyException(error);
  const headers = "headers" in error && error.headers instanceof Headers ? error.headers : undefined;
  const facts = {
    status: error.status,
    retryAfterMs: retryAfterMs(headers, now),
    requestId: headers?.get("request-id") ?? undefined,
  };
  const body: unknown = "error" in error ? error.error : undefined;
  const said = isRaw(body) ? objectAt(body, "error") : {};
  if (textAt(said, "message") !== undefined) return bodyFailure(said, facts);
  return classify({ message: error.message, ...facts });
}
