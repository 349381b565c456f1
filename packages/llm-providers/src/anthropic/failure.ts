import {
  classify,
  type ErrorClassifier,
  errorClassifier,
  type Failure,
  type FailureFacts,
} from "../failure/failure.ts";
import { objectAt, type Raw, textAt } from "../shared/json.ts";

/** What an `error` object of the API says: `{type, message}`, with a more specific `details.error_code` at times. */
export function bodyFailure(error: Raw, facts: Omit<FailureFacts, "message"> = {}): Failure {
  return classify({
    message: textAt(error, "message") ?? "The vendor reported an error without a message.",
    ...facts,
    words: [textAt(objectAt(error, "details"), "error_code"), textAt(error, "type")],
  });
}

/** Classifies what the SDK threw. */
export const classifyError: ErrorClassifier = errorClassifier(
  { requestIdHeaders: ["request-id"] },
  (body) => objectAt(body, "error"),
  bodyFailure,
);
