import { isJsonObject, type JsonObject } from "@signalbox/agent-core";
import type { FailureFacts } from "../failure/failure.ts";
import { ChatReader } from "../openai-chat/reader.ts";
import { defineProvider } from "../provider/define-provider.ts";
import type { Provider } from "../provider/provider.ts";
import { loadSdk, sendThroughSdk } from "../provider/sdk.ts";
import { entryOf, objectsAt, parseObject, textAt } from "../shared/json.ts";
import { requestParams } from "./request.ts";

const PUBLIC_URL = "https://api.mistral.ai";

const load = () => loadSdk("@mistralai/mistralai", () => import("@mistralai/mistralai"));

/** Mistral's chat completions API. The base URL does not include `/v1`. */
export const mistralChat: Provider = defineProvider({
  api: "mistral-chat",
  vendor: "Mistral",
  requires: ["@mistralai/mistralai"],
  requestIdHeaders: ["mistral-correlation-id", "x-kong-request-id"],
  load,
  async send(request) {
    const { HTTPClient, Mistral } = await load();
    // With an empty key, the SDK sends none. Without a key, it would read the environment.
    const { apiKey = "", baseUrl = PUBLIC_URL, headers } = request.config;
    return sendThroughSdk(request, (fetch) => {
      const httpClient = new HTTPClient({
        fetcher: async (input) => {
          // Not `instanceof Request`: some servers replace the global class that the SDK uses.
          if (typeof input === "string" || input instanceof URL) return fetch(input);
          const body = withExtra(await input.text(), request.options.extra);
          return fetch(input.url, { method: input.method, headers: input.headers, body });
        },
      });
      const client = new Mistral({ apiKey, serverURL: baseUrl.replace(/\/(v1\/?)?$/, ""), httpClient });
      const options = { headers: { ...headers }, signal: request.signal };
      return client.chat.stream(requestParams(request), options);
    });
  },
  readError,
  createReader: (turn) => new ChatReader(turn),
});

/** Adds the caller's own fields, because the SDK drops fields that it does not know. */
function withExtra(body: string, extra: JsonObject | undefined): string {
  return extra === undefined ? body : JSON.stringify({ ...parseObject(body), ...extra });
}

/** Meanings of Mistral's error codes that its error type does not determine. 3051 is any invalid argument. */
const CODES: Readonly<Record<string, string>> = {
  "1300": "rate_limited",
  "1500": "model_not_found",
  "3505": "overloaded_error",
};

function readError(error: JsonObject, known: FailureFacts): FailureFacts {
  return {
    ...known,
    message: messageOf(error) ?? known.message,
    words: [entryOf(CODES, textAt(error, "code") ?? ""), textAt(error, "type")],
  };
}

/** Returns the message of a refusal. Validation errors are listed under `message` or `detail`. */
function messageOf(error: JsonObject): string | undefined {
  const direct = textAt(error, "message") ?? textAt(error, "detail");
  if (direct !== undefined) return direct;
  const lines = objectsAt(isJsonObject(error.message) ? error.message : error, "detail").map((item) => {
    const at = Array.isArray(item.loc) ? item.loc.join(".") : "";
    return `${at}: ${textAt(item, "msg") ?? "invalid"}`;
  });
  return lines.length > 0 ? lines.join("; ") : undefined;
}
