import type { Config } from "@signalbox/config";
import type { Embedder } from "@signalbox/memory";
import { z } from "zod";
import { EXIT, GatewayError } from "../errors.ts";

/** Providers whose embeddings are asked for as OpenAI's are, with where they are and what holds their key. */
const KNOWN: Readonly<Record<string, { readonly baseUrl: string; readonly key: string }>> = {
  openai: { baseUrl: "https://api.openai.com/v1", key: "OPENAI_API_KEY" },
  mistral: { baseUrl: "https://api.mistral.ai/v1", key: "MISTRAL_API_KEY" },
  google: { baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai", key: "GEMINI_API_KEY" },
};

/** What `memory.embeddings` names; undefined for `none`. */
export async function embedderOf(
  { memory, models }: Pick<Config, "memory" | "models">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Embedder | undefined> {
  const { embeddings } = memory;
  if (embeddings === "none") return undefined;
  if (embeddings.startsWith("static:")) {
    const { openStaticModel } = await import("@signalbox/memory");
    return openStaticModel(embeddings.slice("static:".length));
  }
  const [name = "", ...rest] = embeddings.split("/");
  const configured = models.providers[name];
  const baseUrl = configured?.baseUrl ?? KNOWN[name]?.baseUrl;
  if (baseUrl === undefined) {
    throw new GatewayError(
      EXIT.failure,
      `memory.embeddings: there is no provider ${name} with a baseUrl. Add it to models.providers, or use none.`,
    );
  }
  const [apiKey] = [configured?.apiKey ?? env[KNOWN[name]?.key ?? ""]].flat();
  return openAiEmbeddings({ baseUrl, apiKey, model: rest.join("/"), name: embeddings });
}

interface EmbeddingsApi {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** As the configuration names it. */
  readonly name: string;
}

const ANSWER = z.object({
  data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()) })),
});

/** https://platform.openai.com/docs/api-reference/embeddings, which most providers and local servers speak. */
function openAiEmbeddings({ baseUrl, apiKey, model, name }: EmbeddingsApi): Embedder {
  return {
    model: name,
    async embed(input, signal) {
      const response = await fetch(`${baseUrl.replace(/\/$/, "")}/embeddings`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
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
