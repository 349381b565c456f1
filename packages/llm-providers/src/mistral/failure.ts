import {
  classify,
  classifyException,
  type ErrorFields,
  type Failure,
  refusalOf,
} from "../failure/failure.ts";
import { entryOf, isRaw, objectsAt, parseRaw, type Raw, textAt } from "../shared/json.ts";

const FIELDS: ErrorFields = {
  status: "statusCode",
  body: "body",
  requestIdHeaders: ["mistral-correlation-id", "x-kong-request-id"],
};

/** Mistral's numbers for what its words leave open. */
const CODES: Readonly<Record<string, string>> = {
  "1300": "rate_limited",
  "1500": "model_not_found",
  "3051": "context_length_exceeded",
  "3505": "overloaded_error",
};

/** What a refusal's body says; validation failures come as a list under `message` or `detail`. */
function messageOf(body: Raw): string | undefined {
  const direct = textAt(body, "message") ?? textAt(body, "detail");
  if (direct !== undefined) return direct;
  const list = isRaw(body.message) ? objectsAt(body.message, "detail") : objectsAt(body, "detail");
  const lines = list.map((item) => {
    const at = Array.isArray(item.loc) ? item.loc.join(".") : "";
    return `${at}: ${textAt(item, "msg") ?? "invalid"}`;
  });
  return lines.length > 0 ? lines.join("; ") : undefined;
}

/** Classifies what the SDK threw: the vendor's refusal by its body, anything else as an exception. */
export function classifyError(error: unknown, now: number): Failure {
  const refusal = refusalOf(error, now, FIELDS);
  if (refusal === undefined) return classifyException(error);
  const { body, ...facts } = refusal;
  const said = (typeof body === "string" ? parseRaw(body) : undefined) ?? {};
  return classify({
    ...facts,
    message: messageOf(said) ?? facts.message,
    words: [entryOf(CODES, textAt(said, "code") ?? ""), textAt(said, "type")],
  });
}
