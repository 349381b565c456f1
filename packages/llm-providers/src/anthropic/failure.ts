import { classify, type Failure, type FailureFacts, NOTHING_SAID } from "../failure/failure.ts";
import { type ErrorClassifier, refusalClassifier } from "../failure/refused.ts";
import { objectAt, type Raw, textAt } from "../shared/json.ts";

/** What an `error` object of the API says: `{type, message}`, with a more specific `details.error_code` at times. */
export function classifyBody(error: Raw, facts: FailureFacts = NOTHING_SAID): Failure {
  return classify({
    ...facts,
    message: textAt(error, "message") ?? facts.message,
    words: [textAt(objectAt(error, "details"), "error_code"), textAt(error, "type")],
  });
}

export const classifyError: ErrorClassifier = refusalClassifier((body, facts) =>
  classifyBody(objectAt(body, "error"), facts),
);
