import { defineProvider } from "../provider/define-provider.ts";
import type { Provider } from "../provider/provider.ts";
import { acceptedResponse, loadSdk } from "../provider/sdk.ts";
import { GoogleReader, readError } from "./reader.ts";
import { buildRequest } from "./request.ts";

const PUBLIC_URL = "https://generativelanguage.googleapis.com";

/** Google's Gemini API, through the `@google/genai` SDK. The base URL goes without `/v1beta`. */
export const googleGenerative: Provider = defineProvider({
  api: "google-generative",
  vendor: "Google",
  requires: ["@google/genai"],
  requestIdHeaders: ["x-request-id"],
  async client({ apiKey = "none", baseUrl = PUBLIC_URL, headers = {} }) {
    const sdk = await loadSdk("@google/genai", () => import("@google/genai"));
    const account = new sdk.GoogleGenAI({
      vertexai: false,
      apiKey,
      apiVersion: "v1beta",
      httpOptions: { baseUrl: baseUrl.replace(/\/(v1beta\/?)?$/, ""), headers: { ...headers } },
    });
    return { account, enums: sdk };
  },
  buildRequest: (request, { enums }) => buildRequest(request, enums),
  send: ({ account }, params, { config, options }, signal) =>
    acceptedResponse(config.fetch, (fetch) => {
      const extra = options.extra === undefined ? {} : { extraBody: { ...options.extra } };
      const asked = { ...params.config, abortSignal: signal, httpOptions: { fetch, ...extra } };
      return account.models.generateContentStream({ ...params, config: asked });
    }),
  readError,
  createReader: (turn) => new GoogleReader(turn),
});
