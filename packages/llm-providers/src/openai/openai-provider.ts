import type { StreamOptions } from "@signalbox/agent-core";
import type OpenAI from "openai";
import { defineProvider, type ModelRequest, type ProviderDefinition } from "../provider/define-provider.ts";
import type { Provider } from "../provider/provider.ts";
import { loadSdk, sendThroughSdk } from "../provider/sdk.ts";
import { withoutUndefined } from "../shared/json.ts";
import { readError } from "./failure.ts";

export const PUBLIC_URL = "https://api.openai.com/v1";

const load = () => loadSdk("openai", () => import("openai"));

type OpenAiDefinition = Pick<ProviderDefinition, "api" | "createReader" | "learn"> & {
  /** Calls the SDK's method for the endpoint. */
  readonly create: (client: OpenAI, request: ModelRequest) => PromiseLike<unknown>;
};

/** Defines a provider for one of OpenAI's endpoints. Reads nothing from the environment. */
export function openaiProvider({ create, ...definition }: OpenAiDefinition): Provider {
  return defineProvider({
    ...definition,
    vendor: "OpenAI",
    requires: ["openai"],
    requestIdHeaders: ["x-request-id"],
    load,
    async send(request) {
      const { default: Client } = await load();
      const { apiKey, baseUrl = PUBLIC_URL, headers } = request.config;
      return sendThroughSdk(request, (fetch) => {
        const client = new Client({
          // The SDK requires a key. If there is none, the header that would contain it is removed.
          apiKey: apiKey ?? "none",
          defaultHeaders: { ...(apiKey === undefined && { authorization: null }), ...headers },
          baseURL: baseUrl,
          organization: null,
          project: null,
          logLevel: "off",
          maxRetries: 0,
          fetch,
        });
        return create(client, request);
      });
    },
    readError,
  });
}

/** The fields that set a conversation's cache key and its longest lifetime. */
export function cacheFields(
  { cache, sessionId }: StreamOptions,
  supportsLongCache = true,
): { readonly prompt_cache_key?: string; readonly prompt_cache_retention?: "24h" } {
  if (cache === "none") return {};
  return withoutUndefined({
    prompt_cache_key: sessionId?.slice(0, 64),
    prompt_cache_retention: cache === "long" && supportsLongCache ? "24h" : undefined,
  });
}
