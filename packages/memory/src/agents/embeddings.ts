import type { Embedder } from "../vectors/embedder.ts";

/** Providers whose embeddings are asked for as OpenAI's are, with where they are and what holds their key. */
const KNOWN: Readonly<Record<string, { readonly baseUrl: string; readonly key: string }>> = {
  openai: { baseUrl: "https://api.openai.com/v1", key: "OPENAI_API_KEY" },
  mistral: { baseUrl: "https://api.mistral.ai/v1", key: "MISTRAL_API_KEY" },
  google: { baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai", key: "GEMINI_API_KEY" },
};

const NONE = "none";
const STATIC = "static:";

/** A provider of embeddings, where it differs from the defaults. */
export interface EmbeddingProvider {
  readonly baseUrl?: string;
  readonly apiKey?: string | readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

export interface EmbedderOptions {
  /** By name. OpenAI, Mistral and Google need no entry. */
  readonly providers: Readonly<Record<string, EmbeddingProvider>>;
  /** Providers that are not asked, whatever is known of them. Default: none. */
  readonly disabled?: readonly string[];
  /** May hold their keys. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder of a static model. Default: as it is named. */
  readonly folder?: (named: string) => string;
  /** Makes each request to a provider. Default: as it is. */
  readonly pay?: PayForVectors;
}

/** Makes a request for vectors of these texts, by a host that counts what it costs; may refuse it. */
export type PayForVectors = (texts: readonly string[], ask: () => Promise<Embedded>) => Promise<Embedded>;

/** What a provider answered. */
export interface Embedded {
  readonly vectors: readonly Float32Array[];
  /** What it says that they cost. */
  readonly tokens: number | undefined;
}

/**
 * What a name of embeddings stands for: `none`, `static:<folder>` for a local model, or `<provider>/<model>`.
 * Undefined, so that words alone are searched, for `none` and for a provider that there is not.
 */
export async function embedderOf(name: string, options: EmbedderOptions): Promise<Embedder | undefined> {
  const { providers, env, folder = (named) => named, pay = (_texts, ask) => ask() } = options;
  if (name === NONE) return undefined;
  if (name.startsWith(STATIC)) {
    const { openStaticModel } = await import("../vectors/static-model.ts");
    return openStaticModel(folder(name.slice(STATIC.length)));
  }
  const { provider, model } = providerOf(name);
  const baseUrl = baseUrlOf(options, provider);
  if (baseUrl === undefined) return undefined;
  const [apiKey] = [providers[provider]?.apiKey ?? env[KNOWN[provider]?.key ?? ""]].flat();
  const ask = openAiEmbeddings({ baseUrl, apiKey, headers: providers[provider]?.headers, model });
  return {
    model: name,
    embed: async (texts, signal) => (await pay(texts, () => ask(texts, signal))).vectors,
  };
}

type Providers = Pick<EmbedderOptions, "providers" | "disabled">;

/** The missing provider that a name of embeddings needs: memory then searches by words alone. */
export function missingProvider(name: string, providers: Providers): string | undefined {
  if (name === NONE || name.startsWith(STATIC)) return undefined;
  const { provider } = providerOf(name);
  return baseUrlOf(providers, provider) === undefined ? provider : undefined;
}

function providerOf(embeddings: string): { readonly provider: string; readonly model: string } {
  const [provider = "", ...model] = embeddings.split("/");
  return { provider, model: model.join("/") };
}

function baseUrlOf({ providers, disabled = [] }: Providers, provider: string): string | undefined {
  if (disabled.includes(provider)) return undefined;
  return providers[provider]?.baseUrl ?? KNOWN[provider]?.baseUrl;
}

interface EmbeddingsApi {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly model: string;
}

type AskForVectors = (input: readonly string[], signal: AbortSignal) => Promise<Embedded>;

/** https://platform.openai.com/docs/api-reference/embeddings, which most providers and local servers speak. */
function openAiEmbeddings({ baseUrl, apiKey, headers, model }: EmbeddingsApi): AskForVectors {
  return async (input, signal) => {
    const response = await fetch(`${baseUrl.replace(/\/$/, "")}/embeddings`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...headers,
      },
      body: JSON.stringify({ model, input }),
      signal,
    });
    if (!response.ok) throw new Error(`it answered with status ${response.status}`);
    const answer: unknown = await response.json();
    return { vectors: vectorsIn(answer), tokens: tokensIn(answer) };
  };
}

function tokensIn(answer: unknown): number | undefined {
  const usage: unknown =
    typeof answer === "object" && answer !== null && "usage" in answer ? answer.usage : undefined;
  if (typeof usage !== "object" || usage === null || !("prompt_tokens" in usage)) return undefined;
  const { prompt_tokens: tokens } = usage;
  return typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined;
}

function vectorsIn(answer: unknown): Float32Array[] {
  const data: unknown =
    typeof answer === "object" && answer !== null && "data" in answer ? answer.data : undefined;
  if (!Array.isArray(data) || !data.every(isVector))
    throw new Error("it answered with something else than vectors");
  return data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => Float32Array.from(embedding));
}

function isVector(
  value: unknown,
): value is { readonly index: number; readonly embedding: readonly number[] } {
  if (typeof value !== "object" || value === null || !("index" in value) || !("embedding" in value))
    return false;
  const { index, embedding } = value;
  return (
    typeof index === "number" &&
    Array.isArray(embedding) &&
    embedding.every((component) => typeof component === "number")
  );
}
