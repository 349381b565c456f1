import type { ModelErrorData } from "@signalbox/agent-core";
import { parseJson, readResponse } from "./read-response.ts";
import { CLAUDE_URL } from "./subscriptions/claude.ts";

/** A model vendor, or a self-hosted model server, that the setup offers. */
export interface ModelVendor {
  readonly id: string;
  readonly label: string;
  /** Wire format. */
  readonly api: string;
  /** The setting that gives access to its models. */
  readonly needs: "key" | "address" | "token";
  /** Page on which keys are created. */
  readonly keyPage?: string;
  /** Base URL for a list of models. */
  readonly url?: string;
}

/** The vendors that the setup offers, in order. */
export const MODEL_VENDORS: readonly ModelVendor[] = [
  {
    id: "anthropic",
    label: "Anthropic",
    api: "anthropic-messages",
    needs: "key",
    keyPage: "https://console.anthropic.com/settings/keys",
    url: "https://api.anthropic.com",
  },
  {
    id: "openai",
    label: "OpenAI",
    api: "openai-responses",
    needs: "key",
    keyPage: "https://platform.openai.com/api-keys",
    url: "https://api.openai.com/v1",
  },
  {
    id: "google",
    label: "Google Gemini",
    api: "google-generative",
    needs: "key",
    keyPage: "https://aistudio.google.com/apikey",
    url: "https://generativelanguage.googleapis.com",
  },
  {
    id: "mistral",
    label: "Mistral",
    api: "mistral-chat",
    needs: "key",
    keyPage: "https://console.mistral.ai/api-keys",
    url: "https://api.mistral.ai",
  },
  // A setup token of the person's own plan. Keys are the better choice, so it comes after all vendors.
  { id: "claude", label: "Claude plan", api: "anthropic-messages", needs: "token", url: CLAUDE_URL },
  { id: "local", label: "Your own server", api: "openai-chat", needs: "address" },
];

/** Message for a test of a model, and the maximum length of its answer in tokens. */
export const TEST_MESSAGE = "Reply with the word OK.";
export const TEST_TOKENS = 16;

/** Returns true for an error of the connection or an outage, which says nothing about the key. */
export function isVendorUnreachable({ code }: Pick<ModelErrorData, "code">): boolean {
  return code === "network" || code === "timeout" || code === "overloaded" || code === "rate_limit";
}

/** Time limit for a list of models, in milliseconds. */
const LIST_MS = 5_000;
/** Maximum number of listed models. Aggregators offer hundreds. */
const MAX_MODELS = 2_000;
/** Maximum size of a list, in bytes. Long descriptions make the lists of aggregators large. */
const MAX_LIST_BYTES = 20_000_000;
/** Maximum length of a model's id. */
const MAX_ID_LENGTH = 200;

/**
 * Reads the ids of the models that a provider offers to a key: `GET /v1/models`, or `GET /v1beta/models` of Gemini.
 * Returns no ids if the provider has no such list.
 *
 * @param baseUrl as in the configuration of a provider
 * @throws Error if no server responds within 5 s, or if the list has more than 20,000,000 bytes
 */
export async function listProviderModels(
  api: string,
  baseUrl: string,
  apiKey: string | undefined,
): Promise<readonly string[]> {
  const base = baseUrl.replace(/\/+$/, "");
  const response = await fetch(getListUrl(api, base), {
    headers: apiKey === undefined ? {} : getKeyHeaders(api, apiKey),
    // A redirect would send the key to another server.
    redirect: apiKey === undefined ? "follow" : "error",
    signal: AbortSignal.timeout(LIST_MS),
  });
  const body = parseJson(await readResponse(response, MAX_LIST_BYTES));
  return response.ok ? readIds(body) : [];
}

function getListUrl(api: string, base: string): string {
  switch (api) {
    case "anthropic-messages":
      return `${base}/v1/models?limit=1000`;
    case "google-generative":
      return `${base.replace(/\/v1beta$/, "")}/v1beta/models?pageSize=1000`;
    case "mistral-chat":
      return `${base.replace(/\/v1$/, "")}/v1/models`;
    default:
      return `${base}/models`;
  }
}

function getKeyHeaders(api: string, apiKey: string): Record<string, string> {
  if (api === "anthropic-messages") return { "x-api-key": apiKey, "anthropic-version": "2023-06-01" };
  if (api === "google-generative") return { "x-goog-api-key": apiKey };
  return { authorization: `Bearer ${apiKey}` };
}

/** Reads `data[].id`, or `models[].name` of Gemini. */
function readIds(body: unknown): string[] {
  if (typeof body !== "object" || body === null) return [];
  const list = "data" in body ? body.data : "models" in body ? body.models : [];
  if (!Array.isArray(list)) return [];
  return list
    .slice(0, MAX_MODELS)
    .map((each: unknown) => {
      if (typeof each !== "object" || each === null) return "";
      if ("id" in each && typeof each.id === "string") return each.id;
      return "name" in each && typeof each.name === "string" ? each.name.replace(/^models\//, "") : "";
    })
    .filter((id) => id !== "" && id.length <= MAX_ID_LENGTH);
}
