import { isJsonObject, type JsonObject } from "@signalbox/agent-core";
import type { FailureFacts } from "../failure/failure.ts";
import { ChatReader } from "../openai-chat/reader.ts";
import { defineProvider } from "../provider/define-provider.ts";
import type { Provider } from "../provider/provider.ts";
import { loadSdk, NO_KEY, requestOf } from "../provider/sdk.ts";
import { entryOf, objectsAt, parseObject, textAt } from "../shared/json.ts";
import { requestParams } from "./request.ts";

const PUBLIC_URL = "https://api.mistral.ai";

/** Mistral's chat completions, through the `@mistralai/mistralai` SDK. The base URL goes without `/v1`. */
export const mistralChat: Provider = defineProvider({
  api: "mistral-chat",
  vendor: "Mistral",
  requires: ["@mistralai/mistralai"],
  requestIdHeaders: ["mistral-correlation-id", "x-kong-request-id"],
  client: () => loadSdk("@mistralai/mistralai", () => import("@mistralai/mistralai")),
  async buildRequest(request, { HTTPClient, Mistral }) {
    const { apiKey = NO_KEY, baseUrl = PUBLIC_URL, headers = {} } = request.config;
    const { extra } = request.options;
    const made = await requestOf((fetcher) => {
      const httpClient = new HTTPClient({ fetcher });
      const client = new Mistral({ apiKey, serverURL: baseUrl.replace(/\/(v1\/?)?$/, ""), httpClient });
      return client.chat.stream(requestParams(request), { headers: { ...headers } });
    });
    // The SDK drops fields of the caller's own that it does not know.
    return extra === undefined
      ? made
      : { ...made, body: JSON.stringify({ ...parseObject(made.body), ...extra }) };
  },
  readError,
  createReader: (turn) => new ChatReader(turn, false),
});

/** Mistral's numbers for what its words leave open. */
const CODES: Readonly<Record<string, string>> = {
  "1300": "rate_limited",
  "1500": "model_not_found",
  "3051": "context_length_exceeded",
  "3505": "overloaded_error",
};

function readError(error: JsonObject, known: FailureFacts): FailureFacts {
  return {
    ...known,
    message: messageOf(error) ?? known.message,
    words: [entryOf(CODES, textAt(error, "code") ?? ""), textAt(error, "type")],
  };
}

/** What a refusal says; validation failures come as a list under `message` or `detail`. */
function messageOf(error: JsonObject): string | undefined {
  const direct = textAt(error, "message") ?? textAt(error, "detail");
  if (direct !== undefined) return direct;
  const lines = objectsAt(isJsonObject(error.message) ? error.message : error, "detail").map((item) => {
    const at = Array.isArray(item.loc) ? item.loc.join(".") : "";
    return `${at}: ${textAt(item, "msg") ?? "invalid"}`;
  });
  return lines.length > 0 ? lines.join("; ") : undefined;
}
