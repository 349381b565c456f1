import type { Config, LoadedConfig, Problem } from "@signalbox/config";
import { configuredPath, type Home } from "@signalbox/home";
import type { Embedder } from "@signalbox/memory";
import { z } from "zod";

/** Providers whose embeddings are asked for as OpenAI's are, with where they are and what holds their key. */
const KNOWN: Readonly<Record<string, { readonly baseUrl: string; readonly key: string }>> = {
  openai: { baseUrl: "https://api.openai.com/v1", key: "OPENAI_API_KEY" },
  mistral: { baseUrl: "https://api.mistral.ai/v1", key: "MISTRAL_API_KEY" },
  google: { baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai", key: "GEMINI_API_KEY" },
};

const STATIC = "static:";

/** What `memory.embeddings` names; undefined, so that words alone are searched, for `none` and what there is not. */
export async function embedderOf(
  config: Pick<Config, "memory" | "models">,
  home: Pick<Home, "dir">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Embedder | undefined> {
  const { embeddings } = config.memory;
  if (embeddings === "none") return undefined;
  if (embeddings.startsWith(STATIC)) {
    const { openStaticModel } = await import("@signalbox/memory");
    return openStaticModel(configuredPath(home, embeddings.slice(STATIC.length)));
  }
  const { provider, model } = providerOf(embeddings);
  const configured = config.models.providers[provider];
  const baseUrl = baseUrlOf(config, provider);
  if (baseUrl === undefined) return undefined;
  const [apiKey] = [configured?.apiKey ?? env[KNOWN[provider]?.key ?? ""]].flat();
  return openAiEmbeddings({ baseUrl, apiKey, headers: configured?.headers, model, name: embeddings });
}

/** A provider that there is not: the memory goes on by words alone. */
export function embeddingsProblems(loaded: LoadedConfig): Problem[] {
  const { enabled, embeddings } = loaded.config.memory;
  if (!enabled || embeddings === "none" || embeddings.startsWith(STATIC)) return [];
  const { provider } = providerOf(embeddings);
  if (baseUrlOf(loaded.config, provider) !== undefined) return [];
  return [
    loaded.problem(["memory", "embeddings"], {
      severity: "error",
      message: `there is no provider ${provider} with a baseUrl`,
      remedy: "Add it to models.providers, or use none.",
      disables: "search of the memory by meaning",
    }),
  ];
}

function providerOf(embeddings: string): { readonly provider: string; readonly model: string } {
  const [provider = "", ...model] = embeddings.split("/");
  return { provider, model: model.join("/") };
}

function baseUrlOf({ models }: Pick<Config, "models">, provider: string): string | undefined {
  return models.providers[provider]?.baseUrl ?? KNOWN[provider]?.baseUrl;
}

interface EmbeddingsApi {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly model: string;
  /** As the configuration names it. */
  readonly name: string;
}

const ANSWER = z.object({
  data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()) })),
});

/** https://platform.openai.com/docs/api-reference/embeddings, which most providers and local servers speak. */
function openAiEmbeddings({ baseUrl, apiKey, headers, model, name }: EmbeddingsApi): Embedder {
  return {
    model: name,
    async embed(input, signal) {
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
      const { data } = ANSWER.parse(await response.json());
      return data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => Float32Array.from(embedding));
    },
  };
}
