import type { JsonObject } from "@signalbox/agent-core";
import { type FailureFacts, NO_MESSAGE } from "../failure/failure.ts";
import { numberAt, objectAt, textAt } from "../shared/json.ts";

/** Reads an OpenAI error object, `{message, type, code, param}`, including the variants of compatible servers. */
export function readError(error: JsonObject, known: FailureFacts = NO_MESSAGE): FailureFacts {
  const { code } = error;
  // OpenRouter puts the status into `code`, and the message from the model's host into `metadata.raw`.
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
    param: textAt(error, "param"),
    // Servers send this type with every status, so the status is more specific.
    words: [textAt(error, "code"), textAt(error, "type")].filter(
      (word) => status === undefined || word !== "invalid_request_error",
    ),
  };
}
