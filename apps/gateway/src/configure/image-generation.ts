import type { Config, LoadedConfig, Problem } from "@signalbox/config";
import { KEY_VARIABLES } from "@signalbox/llm-providers";
import type { GuardedFetch, ImageRequest } from "@signalbox/tools";
import { z } from "zod";

/** A generated image. */
export interface GeneratedImage {
  readonly bytes: Uint8Array;
  /** Tokens used, as reported by the provider. */
  readonly tokens: { readonly input: number; readonly output: number } | undefined;
}

/** Generates an image. */
export type GenerateImage = (request: ImageRequest, signal: AbortSignal) => Promise<GeneratedImage>;

type Environment = Readonly<Record<string, string | undefined>>;
type ImageConfig = Pick<Config, "tools" | "models">;

const DEFAULT_URLS: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1",
  google: "https://generativelanguage.googleapis.com",
};
/** Time limit of a request, in milliseconds. Large images take more than a minute. */
const REQUEST_MS = 180_000;
/** Maximum size of a response with an image in base64, in bytes. */
const MAX_RESPONSE_BYTES = 40_000_000;

interface Endpoint {
  readonly isGoogle: boolean;
  readonly baseUrl: string;
  readonly model: string;
  readonly key: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

interface GeneratorPorts {
  /** Downloads an image from the address that a provider returns. */
  readonly download: GuardedFetch;
  /** Default: the `fetch` of Node.js. */
  readonly fetch?: typeof globalThis.fetch;
}

/** Creates the generator for a configuration. Returns undefined if none is configured. */
export function createImageGenerator(
  config: ImageConfig,
  env: Environment,
  { download, fetch = globalThis.fetch }: GeneratorPorts,
): GenerateImage | undefined {
  const endpoint = findEndpoint(config, env);
  if (endpoint === undefined) return undefined;
  return async (request, signal) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]);
    const { url, headers, body } = endpoint.isGoogle
      ? createGoogleRequest(endpoint, request)
      : createOpenAiRequest(endpoint, request);
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers, ...endpoint.headers },
      body: JSON.stringify(body),
      redirect: "error",
      signal: limit,
    });
    const answer = await readJson(response);
    if (!response.ok) throw new Error(describeRefusal(response.status, answer));
    return endpoint.isGoogle ? readGoogleImage(answer) : readOpenAiImage(answer, download, limit);
  };
}

/** Reports an unknown provider, or one without a URL. The tool is then not available. */
export function imageGenerationProblems({ config, problem }: LoadedConfig): Problem[] {
  const { imageGeneration } = config.tools;
  if (imageGeneration === undefined || findEndpoint(config, {}) !== undefined) return [];
  const [provider] = imageGeneration.model.split("/");
  return [
    problem(["tools", "imageGeneration", "model"], {
      severity: "error",
      message: `models.providers has no ${provider} that can generate images`,
      remedy: "Add it there (with a baseUrl unless it is openai or google).",
      disables: "the tool generate_image",
    }),
  ];
}

function findEndpoint({ tools, models }: ImageConfig, env: Environment): Endpoint | undefined {
  const [provider = "", ...model] = tools.imageGeneration?.model.split("/") ?? [];
  const entry = models.providers[provider];
  const baseUrl = entry?.baseUrl ?? DEFAULT_URLS[provider];
  // The key of a known vendor may be in the environment, without an entry.
  if (baseUrl === undefined || (entry === undefined && !Object.hasOwn(DEFAULT_URLS, provider)))
    return undefined;
  const variables = KEY_VARIABLES[provider] ?? [];
  const [key] = [entry?.apiKey ?? variables.flatMap((variable) => env[variable] || [])].flat();
  return {
    isGoogle: entry === undefined ? provider === "google" : entry.api === "google-generative",
    baseUrl: baseUrl.replace(/\/+$/, ""),
    model: model.join("/"),
    key,
    headers: entry?.headers ?? {},
  };
}

interface VendorRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

const OPENAI_SIZES = { square: "1024x1024", landscape: "1536x1024", portrait: "1024x1536" } as const;
/** The sizes of the older models `dall-e-3` and compatible servers that imitate it. */
const DALL_E_SIZES = { square: "1024x1024", landscape: "1792x1024", portrait: "1024x1792" } as const;

/** Builds a request for https://platform.openai.com/docs/api-reference/images/create. */
function createOpenAiRequest(
  { baseUrl, model, key }: Endpoint,
  { prompt, shape }: ImageRequest,
): VendorRequest {
  const isOld = model.startsWith("dall-e");
  return {
    url: `${baseUrl}/images/generations`,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    body: {
      model,
      prompt,
      n: 1,
      size: isOld ? DALL_E_SIZES[shape] : OPENAI_SIZES[shape],
      // Newer models always return base64 and reject the parameter.
      ...(isOld ? { response_format: "b64_json" } : {}),
    },
  };
}

const GOOGLE_RATIOS = { square: "1:1", landscape: "3:2", portrait: "2:3" } as const;

/** Builds a request for https://ai.google.dev/gemini-api/docs/image-generation. */
function createGoogleRequest(
  { baseUrl, model, key }: Endpoint,
  { prompt, shape }: ImageRequest,
): VendorRequest {
  return {
    url: `${baseUrl}/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    headers: key === undefined ? {} : { "x-goog-api-key": key },
    body: {
      contents: [{ role: "user", parts: [{ text: prompt }] }],
      generationConfig: { responseModalities: ["IMAGE"], imageConfig: { aspectRatio: GOOGLE_RATIOS[shape] } },
    },
  };
}

async function readJson(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error(`it sent more than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return undefined;
  }
}

const errorSchema = z.object({ error: z.object({ message: z.string() }) });

function describeRefusal(status: number, answer: unknown): string {
  const { data } = errorSchema.safeParse(answer);
  const reason = data === undefined ? "" : `: ${data.error.message.slice(0, 300)}`;
  return `the service responded with status ${status}${reason}`;
}

const openAiSchema = z.object({
  data: z.array(z.object({ b64_json: z.string().nullish(), url: z.string().nullish() })).min(1),
  usage: z
    .object({ input_tokens: z.int().nonnegative(), output_tokens: z.int().nonnegative() })
    .optional()
    .catch(undefined),
});

async function readOpenAiImage(
  answer: unknown,
  download: GuardedFetch,
  signal: AbortSignal,
): Promise<GeneratedImage> {
  const { data } = openAiSchema.safeParse(answer);
  const [image] = data?.data ?? [];
  const tokens = data?.usage && { input: data.usage.input_tokens, output: data.usage.output_tokens };
  if (image?.b64_json) return { bytes: Buffer.from(image.b64_json, "base64"), tokens };
  if (image?.url) return { bytes: (await download(image.url, { signal })).bytes, tokens };
  throw new Error("the service returned no image");
}

const googleSchema = z.object({
  candidates: z
    .array(
      z.object({
        content: z
          .object({
            parts: z.array(z.object({ inlineData: z.object({ data: z.string() }).optional() })).optional(),
          })
          .optional(),
        finishReason: z.string().optional(),
      }),
    )
    .optional(),
  usageMetadata: z
    .object({ promptTokenCount: z.int().nonnegative(), candidatesTokenCount: z.int().nonnegative() })
    .optional()
    .catch(undefined),
});

function readGoogleImage(answer: unknown): GeneratedImage {
  const { data } = googleSchema.safeParse(answer);
  const [candidate] = data?.candidates ?? [];
  const image = candidate?.content?.parts?.find(({ inlineData }) => inlineData !== undefined)?.inlineData;
  if (image === undefined) {
    const reason = candidate?.finishReason ?? "none";
    throw new Error(
      `the service returned no image (finish reason ${reason.slice(0, 60).replace(/\W/g, "")})`,
    );
  }
  const usage = data?.usageMetadata;
  return {
    bytes: Buffer.from(image.data, "base64"),
    tokens: usage && { input: usage.promptTokenCount, output: usage.candidatesTokenCount },
  };
}
