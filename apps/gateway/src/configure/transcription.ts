import type { Recording, Transcriber } from "@signalbox/attachments";
import type { Config, LoadedConfig, Problem } from "@signalbox/config";
import { KEY_VARIABLES } from "@signalbox/llm-providers";
import { z } from "zod";

/** Transcript of a recording. */
export interface Written {
  readonly text: string;
  /** Tokens used, as reported by the provider. */
  readonly tokens: { readonly input: number; readonly output: number } | undefined;
}

/** Charges the sender for a transcription, or rejects it. */
export type PayForTranscription = (recording: Recording, ask: () => Promise<Written>) => Promise<Written>;

/** Base URLs of vendors with an OpenAI-compatible transcription endpoint. */
const PUBLIC_URLS: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1",
  mistral: "https://api.mistral.ai/v1",
};
/** Maximum length of a transcript, in characters. This is about an hour of speech. */
const MAX_CHARACTERS = 100_000;

type Environment = Readonly<Record<string, string | undefined>>;
type TranscriptionConfig = Pick<Config, "media" | "models">;

interface Endpoint {
  readonly url: string;
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface TranscriberPorts {
  /** Charges each request. Default: requests are not counted. */
  readonly pay?: PayForTranscription;
  /** Default: the `fetch` of Node.js. */
  readonly fetch?: typeof globalThis.fetch;
}

/** Creates the transcriber for a configuration. */
export function createTranscriber(
  config: TranscriptionConfig,
  env: Environment,
  { pay = (_recording, ask) => ask(), fetch = globalThis.fetch }: TranscriberPorts = {},
): Transcriber | undefined {
  const endpoint = findEndpoint(config, env);
  if (endpoint === undefined) return undefined;
  const { url, model, headers } = endpoint;
  async function ask(recording: Recording, signal: AbortSignal): Promise<Written> {
    const body = createForm(recording, model);
    const response = await fetch(url, { method: "POST", headers, body, redirect: "error", signal });
    if (!response.ok) throw new Error(`it responded with status ${response.status}`);
    return writtenIn(await response.json());
  }
  return {
    name: config.media.transcription,
    transcribe: async (recording, signal) => (await pay(recording, () => ask(recording, signal))).text,
  };
}

/** Reports an unknown transcription provider or one without a URL. Recordings are then only mentioned to the model. */
export function transcriptionProblems({ config, problem }: LoadedConfig): Problem[] {
  const { transcription } = config.media;
  if (transcription === "none" || findEndpoint(config, {}) !== undefined) return [];
  const { provider } = named(transcription);
  return [
    problem(["media", "transcription"], {
      severity: "error",
      message: `models.providers has no ${provider} that can transcribe recordings`,
      remedy: "Add it there (with a baseUrl unless it is openai or mistral), or use none.",
      disables: "transcription of recordings",
    }),
  ];
}

/**
 * Returns the endpoint of a provider with a valid configuration. A provider with an invalid entry is not used, because
 * recordings intended for its URL must not go to the vendor's public URL.
 */
function findEndpoint({ media, models }: TranscriptionConfig, env: Environment): Endpoint | undefined {
  const { provider, model } = named(media.transcription);
  const entry = models.providers[provider];
  const baseUrl = entry?.baseUrl ?? PUBLIC_URLS[provider];
  if (entry === undefined || baseUrl === undefined) return undefined;
  const variables = KEY_VARIABLES[provider] ?? [];
  const [key] = [entry.apiKey ?? variables.flatMap((variable) => env[variable] || [])].flat();
  return {
    url: `${baseUrl.replace(/\/+$/, "")}/audio/transcriptions`,
    model,
    headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...entry.headers },
  };
}

function named(transcription: string): { readonly provider: string; readonly model: string } {
  const [provider = "", ...model] = transcription.split("/");
  return { provider, model: model.join("/") };
}

/**
 * Builds a request for https://platform.openai.com/docs/api-reference/audio/createTranscription, which other vendors
 * also support.
 */
function createForm({ bytes, mimeType, extension }: Recording, model: string): FormData {
  const form = new FormData();
  form.set("model", model);
  form.set("response_format", "json");
  form.set("file", new Blob([new Uint8Array(bytes)], { type: mimeType }), `recording.${nameable(extension)}`);
  return form;
}

/**
 * Returns a file extension that OpenAI accepts. OpenAI detects the format from the extension, and recognizes Opus only
 * by the extension of its container, `ogg`.
 */
function nameable(extension: string): string {
  return extension === "opus" || extension === "oga" ? "ogg" : extension;
}

const Answer = z.object({
  text: z.string(),
  // Some vendors report usage by duration, and others report none.
  usage: z
    .object({ input_tokens: z.int().nonnegative(), output_tokens: z.int().nonnegative() })
    .optional()
    .catch(undefined),
});

function writtenIn(answer: unknown): Written {
  const { success, data } = Answer.safeParse(answer);
  if (!success) throw new Error("its response was not text");
  const { text, usage } = data;
  return {
    text: text.trim().slice(0, MAX_CHARACTERS).toWellFormed(),
    tokens: usage && { input: usage.input_tokens, output: usage.output_tokens },
  };
}
