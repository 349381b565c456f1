import { defineProvider } from "../provider/define-provider.ts";
import type { Provider } from "../provider/provider.ts";
import { loadSdk, NO_KEY, requestOf } from "../provider/sdk.ts";
import { GoogleReader, readError } from "./reader.ts";
import { requestParams } from "./request.ts";

const PUBLIC_URL = "https://generativelanguage.googleapis.com";

/** Google's Gemini API, through the `@google/genai` SDK. The base URL goes without `/v1beta`. */
export const googleGenerative: Provider = defineProvider({
  api: "google-generative",
  vendor: "Google",
  requires: ["@google/genai"],
  requestIdHeaders: ["x-request-id"],
  async client({ apiKey = NO_KEY, baseUrl = PUBLIC_URL, headers = {} }) {
    const sdk = await loadSdk("@google/genai", () => import("@google/genai"));
    const account = new sdk.GoogleGenAI({
      vertexai: false,
      apiKey,
      apiVersion: "v1beta",
      httpOptions: { baseUrl: baseUrl.replace(/\/(v1beta\/?)?$/, ""), headers: { ...headers } },
    });
    return { account, enums: sdk };
  },
  buildRequest(request, { account, enums }) {
    const { config, ...params } = requestParams(request, enums);
    const { extra } = request.options;
    const extraBody = extra === undefined ? {} : { extraBody: { ...extra } };
    return requestOf((fetch) => {
      const httpOptions = { fetch, ...extraBody };
      return account.models.generateContentStream({ ...params, config: { ...config, httpOptions } });
    });
  },
  readError,
  createReader: (turn) => new GoogleReader(turn),
});
