import type { JsonObject } from "@signalbox/agent-core";
import { type FailureFacts, NOTHING_SAID } from "../failure/failure.ts";
import { numberAt, objectAt, textAt } from "../shared/json.ts";

/** What an OpenAI error says: `{message, type, code, param}`, in the dialects of those who speak it. */
export function readError(error: JsonObject, known: FailureFacts = NOTHING_SAID): FailureFacts {
  const { code } = error;
  // OpenRouter puts the status into `code` and what the model's host said into `metadata.raw`.
  const ownStatus =
    typeof code === "number" && code >= 400 && code < 600
      ? code
      : (numberAt(error, "status_code") ?? numberAt(error, "raw_status_code"));
  const status = known.status ?? ownStatus;
  const detail = textAt(objectAt(error, "metadata"), "raw");
  const message = textAt(error, "message") ?? known.message;
  return {
    ...known,
    message: detail === undefined ? message : `${message}: ${detail}`,
    status,
    // Servers put this type beside every status; the status says more.
    words: [textAt(error, "code"), textAt(error, "type")].filter(
      (word) => status === undefined || word !== "invalid_request_error",
    ),
  };
}
