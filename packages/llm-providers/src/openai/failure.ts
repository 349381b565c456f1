import {
  classify,
  type ErrorClassifier,
  errorClassifier,
  type Failure,
  type FailureFacts,
} from "../failure/failure.ts";
import { numberAt, objectAt, type Raw, textAt } from "../shared/json.ts";

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

/** Classifies what the SDK threw, which has taken the error out of its body. */
export const classifyError: ErrorClassifier = errorClassifier(
  { requestIdHeaders: ["x-request-id"] },
  (body) => body,
  bodyFailure,
);
