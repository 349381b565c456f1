import type OpenAI from "openai";
import type { ProviderConfig } from "../provider.ts";
import { keepAliveFetch } from "../stream/transport.ts";

/** Longer than any turn: silence is watched by the turn itself. */
const NEVER_MS = 2_000_000_000;

/** Makes the SDK's client at the first call and keeps it. Nothing is taken from the environment. */
export function openaiClient(config: ProviderConfig, defaultBaseUrl: string): () => Promise<OpenAI> {
  let client: Promise<OpenAI> | undefined;
  const make = async (): Promise<OpenAI> => {
    const { default: Client } = await import("openai");
    return new Client({
      apiKey: config.apiKey ?? "none",
      baseURL: config.baseUrl ?? defaultBaseUrl,
      organization: null,
      project: null,
      maxRetries: 0,
      timeout: NEVER_MS,
      logLevel: "off",
      fetch: config.fetch ?? keepAliveFetch(),
      defaultHeaders: { ...(config.apiKey === undefined ? { authorization: null } : {}), ...config.headers },
    });
  };
  return () => {
    client ??= make();
    return client;
  };
}
