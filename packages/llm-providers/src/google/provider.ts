import { defineProvider } from "../provider/define-provider.ts";
import type { Provider } from "../provider/provider.ts";
import { loadSdk, sendThroughSdk } from "../provider/sdk.ts";
import { GoogleReader, readError } from "./reader.ts";
import { requestParams } from "./request.ts";

const PUBLIC_URL = "https://generativelanguage.googleapis.com";

const load = () => loadSdk("@google/genai", () => import("@google/genai"));

/** The SDK prints a warning if it gets no key. */
const NO_KEY = "none";
const KEY_HEADER = "x-goog-api-key";

/** Google's Gemini API. The base URL does not include `/v1beta`. */
export const googleGenerative: Provider = defineProvider({
  api: "google-generative",
  vendor: "Google",
  requires: ["@google/genai"],
  requestIdHeaders: ["x-request-id"],
  load,
  async send(request) {
    const sdk = await load();
    const { apiKey = NO_KEY, baseUrl = PUBLIC_URL, headers: extraHeaders } = request.config;
    const client = new sdk.GoogleGenAI({
      vertexai: false,
      apiKey,
      apiVersion: "v1beta",
      httpOptions: { baseUrl: baseUrl.replace(/\/(v1beta\/?)?$/, ""), headers: { ...extraHeaders } },
    });
    const { config, ...params } = requestParams(request, sdk);
    const { extra } = request.options;
    return sendThroughSdk(request, (fetch) => {
      const httpOptions = {
        fetch: (input: string | URL | Request, init?: RequestInit) => {
          const headers = new Headers(init?.headers);
          if (headers.get(KEY_HEADER) === NO_KEY) headers.delete(KEY_HEADER);
          return fetch(input, { ...init, headers });
        },
        extraBody: extra ? { ...extra } : undefined,
      };
      return client.models.generateContentStream({ ...params, config: { ...config, httpOptions } });
    });
  },
  readError,
  createReader: (turn) => new GoogleReader(turn),
});
