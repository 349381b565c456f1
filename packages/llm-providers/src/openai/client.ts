import type OpenAI from "openai";
import type { AccountConfig } from "../provider/define-provider.ts";
import { loadSdk, SDK_TIMEOUT_MS } from "../provider/sdk.ts";

export const PUBLIC_URL = "https://api.openai.com/v1";

/** The SDK's client for one account. Nothing is taken from the environment. */
export async function openaiClient({ apiKey, baseUrl, headers, fetch }: AccountConfig): Promise<OpenAI> {
  const { default: Client } = await loadSdk("openai", () => import("openai"));
  return new Client({
    apiKey: apiKey ?? "none",
    baseURL: baseUrl ?? PUBLIC_URL,
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    logLevel: "off",
    fetch,
    defaultHeaders: { ...(apiKey === undefined ? { authorization: null } : {}), ...headers },
  });
}
