import type { StreamOptions } from "@signalbox/agent-core";
import type OpenAI from "openai";
import type { AccountConfig } from "../provider/define-provider.ts";
import { loadSdk, requestOf } from "../provider/sdk.ts";
import type { HttpRequest } from "../provider/transport.ts";
import { stated } from "../shared/json.ts";

export const PUBLIC_URL = "https://api.openai.com/v1";

/** A request as the SDK makes it for one account. Nothing is taken from the environment. */
export async function openaiRequest(
  { apiKey, baseUrl, headers }: AccountConfig,
  ask: (client: OpenAI) => PromiseLike<unknown>,
): Promise<HttpRequest> {
  const { default: Client } = await loadSdk("openai", () => import("openai"));
  return requestOf((fetch) => {
    const client = new Client({
      apiKey: apiKey ?? "none",
      baseURL: baseUrl ?? PUBLIC_URL,
      organization: null,
      project: null,
      logLevel: "off",
      fetch,
      defaultHeaders: { ...(apiKey === undefined ? { authorization: null } : {}), ...headers },
    });
    return ask(client);
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
