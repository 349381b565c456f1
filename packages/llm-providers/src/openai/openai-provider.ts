import type { StreamOptions } from "@signalbox/agent-core";
import type OpenAI from "openai";
import { defineProvider, type ModelRequest, type ProviderDefinition } from "../provider/define-provider.ts";
import type { Provider } from "../provider/provider.ts";
import { loadSdk, NO_KEY, requestOf } from "../provider/sdk.ts";
import type { HttpRequest } from "../provider/transport.ts";
import { stated } from "../shared/json.ts";
import { readError } from "./failure.ts";

export const PUBLIC_URL = "https://api.openai.com/v1";

type OpenAiDefinition = Pick<ProviderDefinition<HttpRequest>, "api" | "createReader"> & {
  /** Makes a request, for its address and its headers. */
  readonly ask: (client: OpenAI) => PromiseLike<unknown>;
  readonly params: (request: ModelRequest) => object;
};

/** A wire format of OpenAI, through its SDK. Nothing is taken from the environment. */
export function openaiProvider({ api, ask, params, createReader }: OpenAiDefinition): Provider {
  return defineProvider({
    api,
    vendor: "OpenAI",
    requires: ["openai"],
    requestIdHeaders: ["x-request-id"],
    async client({ apiKey = NO_KEY, baseUrl = PUBLIC_URL, headers = {} }) {
      const { default: Client } = await loadSdk("openai", () => import("openai"));
      return requestOf((fetch) => {
        const plain = { organization: null, project: null, logLevel: "off", fetch } as const;
        return ask(new Client({ apiKey, baseURL: baseUrl, defaultHeaders: { ...headers }, ...plain }));
      });
    },
    buildRequest: (request, asked) => ({ ...asked, body: JSON.stringify(params(request)) }),
    readError,
    createReader,
  });
}

/** What asks for a conversation's cache, and for its longest lifetime. */
export function cacheFields(
  { cache, sessionId }: StreamOptions,
  takesLong = true,
): { readonly prompt_cache_key?: string; readonly prompt_cache_retention?: "24h" } {
  if (cache === "none") return {};
  const lifetime = cache === "long" && takesLong ? "24h" : undefined;
  return stated({ prompt_cache_key: sessionId?.slice(0, 64), prompt_cache_retention: lifetime });
}
