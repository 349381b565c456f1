import { classify, classifyException, type Failure, refusalOf, retryAfterMs } from "../failure/failure.ts";
import { entryOf, isRaw, objectsAt, parseRaw, type Raw, textAt } from "../shared/json.ts";

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
  const refusal = refusalOf(error, { status: "statusCode", body: "body" });
  if (refusal === undefined) return classifyException(error);
  const { message, status, headers } = refusal;
  const body = typeof refusal.body === "string" ? (parseRaw(refusal.body) ?? {}) : {};
  return classify({
    message: messageOf(body) ?? message,
    status,
    words: [entryOf(CODES, textAt(body, "code") ?? ""), textAt(body, "type")],
    retryAfterMs: retryAfterMs(headers, now),
    requestId: headers?.get("mistral-correlation-id") ?? headers?.get("x-kong-request-id") ?? undefined,
  });
}
