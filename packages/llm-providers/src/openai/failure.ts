import {
  classify,
  classifyException,
  type Failure,
  type FailureFacts,
  refusalOf,
  retryAfterMs,
} from "../failure/failure.ts";
import { isRaw, numberAt, objectAt, type Raw, textAt } from "../shared/json.ts";

/** What an OpenAI error body says: `{message, type, code, param}`, in the dialects of those who speak it. */
export function bodyFailure(body: Raw, facts: Omit<FailureFacts, "message" | "words"> = {}): Failure {
  const code = body.code;
  // OpenRouter puts the status into `code` and what the model's host said into `metadata.raw`.
  const status =
    facts.status ??
    (typeof code === "number" && code >= 400 && code < 600
      ? code
      : (numberAt(body, "status_code") ?? numberAt(body, "raw_status_code")));
  const detail = textAt(objectAt(body, "metadata"), "raw");
  const message = textAt(body, "message") ?? "The server reported an error without a message.";
  return classify({
    message: detail === undefined ? message : `${message}: ${detail}`,
    status,
    // Servers put this type beside every status; the status says more.
    words: [textAt(body, "code"), textAt(body, "type")].filter(
      (word) => status === undefined || word !== "invalid_request_error",
    ),
    retryAfterMs: facts.retryAfterMs,
    requestId: facts.requestId,
  });
}

/** Classifies what the SDK threw: the vendor's refusal by its body, anything else as an exception. */
export function classifyError(error: unknown, now: number): Failure {
  const refusal = refusalOf(error);
  if (refusal === undefined) return classifyException(error);
  const { message, status, headers, body } = refusal;
  const requestId = headers?.get("x-request-id") ?? undefined;
  const facts = { status, retryAfterMs: retryAfterMs(headers, now), requestId };
  const isSaid = isRaw(body) && textAt(body, "message") !== undefined;
  return isSaid ? bodyFailure(body, facts) : classify({ message, ...facts });
}
