import { classify } from "../failure/failure.ts";
import { type ErrorClassifier, refusalClassifier } from "../failure/refused.ts";
import { entryOf, isRaw, objectsAt, type Raw, textAt } from "../shared/json.ts";

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
  const lines = objectsAt(isRaw(body.message) ? body.message : body, "detail").map((item) => {
    const at = Array.isArray(item.loc) ? item.loc.join(".") : "";
    return `${at}: ${textAt(item, "msg") ?? "invalid"}`;
  });
  return lines.length > 0 ? lines.join("; ") : undefined;
}

export const classifyError: ErrorClassifier = refusalClassifier((body, facts) =>
  classify({
    ...facts,
    message: messageOf(body) ?? facts.message,
    words: [entryOf(CODES, textAt(body, "code") ?? ""), textAt(body, "type")],
  }),
);
