import type { Embedder } from "../vectors/embedder.ts";

/** Known providers of OpenAI's embeddings API, with the environment variable of their key. */
const KNOWN: Readonly<Record<string, { readonly baseUrl: string; readonly key: string }>> = {
  openai: { baseUrl: "https://api.openai.com/v1", key: "OPENAI_API_KEY" },
  mistral: { baseUrl: "https://api.mistral.ai/v1", key: "MISTRAL_API_KEY" },
  google: { baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai", key: "GEMINI_API_KEY" },
};

/** Maximum size of a response for each text, in bytes. Vectors of 8,192 numbers fit. */
const MAX_BYTES_PER_TEXT = 500_000;

const NONE = "none";
const STATIC = "static:";

/** Settings of a provider that differ from the defaults. */
export interface EmbeddingProvider {
  readonly baseUrl?: string;
  readonly apiKey?: string | readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

export interface EmbedderOptions {
  /** Providers by name. OpenAI, Mistral and Google need no entry. */
  readonly providers: Readonly<Record<string, EmbeddingProvider>>;
  /** Providers that must not receive requests, even if they are known. Default: none. */
  readonly disabled?: readonly string[];
  /** Environment variables, for the keys of known providers. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Resolves the folder of a static model. Default: the name itself. */
  readonly folder?: (name: string) => string;
  /** Wraps each request to a provider, for example to count its cost. */
  readonly pay?: PayForVectors;
}

/** Sends a request by calling `send`, or rejects to refuse it. */
export type PayForVectors = (
  texts: readonly string[],
  send: () => Promise<EmbeddingResponse>,
) => Promise<EmbeddingResponse>;

/** The response of a provider. */
export interface EmbeddingResponse {
  readonly vectors: readonly Float32Array[];
  /** The billed tokens, if the provider reports them. */
  readonly tokens: number | undefined;
}

/**
 * Creates an embedder.
 *
 * @param name `none`, `static:<folder>` for a local model, or `<provider>/<model>`
 * @returns `undefined` for `none` and for an unknown provider; searches then use only words
 */
export async function createEmbedder(name: string, options: EmbedderOptions): Promise<Embedder | undefined> {
  const { providers, env, folder = (path) => path, pay = (_texts, send) => send() } = options;
  if (name === NONE) return undefined;
  if (name.startsWith(STATIC)) {
    const { openStaticModel } = await import("../vectors/static-model.ts");
    return openStaticModel(folder(name.slice(STATIC.length)));
  }
  const { provider, model } = parseName(name);
  const baseUrl = findBaseUrl(options, provider);
  if (baseUrl === undefined) return undefined;
  const [apiKey] = [providers[provider]?.apiKey ?? env[KNOWN[provider]?.key ?? ""]].flat();
  const request = createApiClient({ baseUrl, apiKey, headers: providers[provider]?.headers, model });
  return {
    model: name,
    embed: async (texts, signal) => (await pay(texts, () => request(texts, signal))).vectors,
  };
}

type Providers = Pick<EmbedderOptions, "providers" | "disabled">;

/** Returns the provider that a name refers to, if it is unknown or disabled. */
export function findMissingProvider(name: string, providers: Providers): string | undefined {
  if (name === NONE || name.startsWith(STATIC)) return undefined;
  const { provider } = parseName(name);
  return findBaseUrl(providers, provider) === undefined ? provider : undefined;
}

function parseName(embeddings: string): { readonly provider: string; readonly model: string } {
  const [provider = "", ...model] = embeddings.split("/");
  return { provider, model: model.join("/") };
}

function findBaseUrl({ providers, disabled = [] }: Providers, provider: string): string | undefined {
  if (disabled.includes(provider)) return undefined;
  return providers[provider]?.baseUrl ?? KNOWN[provider]?.baseUrl;
}

interface EmbeddingsApi {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly model: string;
}

type RequestVectors = (input: readonly string[], signal: AbortSignal) => Promise<EmbeddingResponse>;

/**
 * Client of https://platform.openai.com/docs/api-reference/embeddings, which most providers and local servers offer.
 */
function createApiClient({ baseUrl, apiKey, headers, model }: EmbeddingsApi): RequestVectors {
  return async (input, signal) => {
    const response = await fetch(`${baseUrl.replace(/\/$/, "")}/embeddings`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...headers,
      },
      body: JSON.stringify({ model, input }),
      // A redirect would send notes and configured headers to another server.
      redirect: "error",
      signal,
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`HTTP status ${response.status}`);
    }
    const body: unknown = JSON.parse(await readText(response, MAX_BYTES_PER_TEXT * input.length));
    return { vectors: parseVectors(body), tokens: parseTokens(body) };
  };
}

/** @throws Error if the body has more than `maxBytes` */
async function readText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`the response has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseTokens(body: unknown): number | undefined {
  const usage: unknown =
    typeof body === "object" && body !== null && "usage" in body ? body.usage : undefined;
  if (typeof usage !== "object" || usage === null || !("prompt_tokens" in usage)) return undefined;
  const { prompt_tokens: tokens } = usage;
  return typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined;
}

function parseVectors(body: unknown): Float32Array[] {
  const data: unknown = typeof body === "object" && body !== null && "data" in body ? body.data : undefined;
  if (!Array.isArray(data) || !data.every(isVector)) throw new Error("the response contains no vectors");
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
