import { ChatReader } from "../openai-chat/reader.ts";
import { acceptedResponse } from "../provider/capture.ts";
import { defineProvider } from "../provider/define-provider.ts";
import type { FetchLike, Provider } from "../provider/provider.ts";
import { loadSdk } from "../provider/sdk.ts";
import { parseRaw } from "../shared/json.ts";
import { classifyError } from "./failure.ts";
import { buildRequest } from "./request.ts";

const PUBLIC_URL = "https://api.mistral.ai";

/** Mistral's chat completions, through the `@mistralai/mistralai` SDK. The base URL goes without `/v1`. */
export const mistralChat: Provider = defineProvider({
  api: "mistral-chat",
  vendor: "Mistral",
  requires: ["@mistralai/mistralai"],
  requestIdHeaders: ["mistral-correlation-id", "x-kong-request-id"],
  client: () => loadSdk("@mistralai/mistralai", () => import("@mistralai/mistralai")),
  buildRequest,
  send({ HTTPClient, Mistral }, params, { config, options }, signal) {
    const { apiKey = "none", baseUrl = PUBLIC_URL, headers } = config;
    const ask = (fetcher: FetchLike): Promise<unknown> => {
      const client = new Mistral({
        apiKey,
        serverURL: baseUrl.replace(/\/(v1\/?)?$/, ""),
        httpClient: new HTTPClient({ fetcher }),
      });
      return client.chat.stream(params, { signal, retries: { strategy: "none" } });
    };
    // The SDK drops fields of the caller's own that it does not know.
    const edit = (body: string): string => JSON.stringify({ ...parseRaw(body), ...options.extra });
    const send = headers === undefined ? config.fetch : withHeaders(config.fetch, headers);
    return acceptedResponse(send, ask, options.extra === undefined ? undefined : edit);
  },
  classifyError,
  createReader: (turn) => new ChatReader(turn, false),
});

function withHeaders(send: FetchLike, extra: Readonly<Record<string, string>>): FetchLike {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(extra)) headers.set(name, value);
    return send(input, { ...init, headers });
  };
}
