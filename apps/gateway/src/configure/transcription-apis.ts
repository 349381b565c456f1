import type { Recording } from "@signalbox/attachments";
import { z } from "zod";
import type { VoiceProvider } from "./voice-provider.ts";

/** Transcript of a recording. */
export interface Written {
  readonly text: string;
  /** Tokens used, as reported by the provider. */
  readonly tokens: { readonly input: number; readonly output: number } | undefined;
  /** Duration of the recording, as reported by the provider. */
  readonly seconds: number | undefined;
}

interface TranscriptionRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FormData | Uint8Array<ArrayBuffer>;
}

/** The wire format of a transcription service. */
interface TranscriptionApi {
  createRequest(recording: Recording): TranscriptionRequest;
  /** @throws Error if the response contains no transcript */
  readAnswer(answer: unknown): Written;
}

/** Maximum length of a transcript, in characters. This is about an hour of speech. */
const MAX_CHARACTERS = 100_000;

/** Returns the API of a provider. All but three have OpenAI's. */
export function createTranscriptionApi(provider: VoiceProvider): TranscriptionApi {
  switch (provider.api) {
    case "whisper-cpp":
      return createWhisperCppApi(provider);
    case "deepgram":
      return createDeepgramApi(provider);
    case "elevenlabs":
      return createElevenLabsApi(provider);
    default:
      return createOpenAiApi(provider);
  }
}

/**
 * The API of https://platform.openai.com/docs/api-reference/audio/createTranscription, which other vendors and local
 * servers also offer.
 */
function createOpenAiApi({ baseUrl, model, key }: VoiceProvider): TranscriptionApi {
  return {
    createRequest: (recording) => ({
      url: `${baseUrl}/audio/transcriptions`,
      headers: getKeyHeader("authorization", key && `Bearer ${key}`),
      body: createForm(recording, { model, response_format: "json" }),
    }),
    readAnswer: readText,
  };
}

/** The API of the server in https://github.com/ggml-org/whisper.cpp/tree/master/examples/server. It has one model. */
function createWhisperCppApi({ baseUrl, key }: VoiceProvider): TranscriptionApi {
  return {
    createRequest: (recording) => ({
      url: `${baseUrl}/inference`,
      headers: getKeyHeader("authorization", key && `Bearer ${key}`),
      body: createForm(recording, { response_format: "json" }),
    }),
    readAnswer: readText,
  };
}

/** The end of each word in seconds. The response has no duration. */
const elevenLabsSchema = z.object({ words: z.array(z.object({ end: z.number().nonnegative() })) });

/** The API of https://elevenlabs.io/docs/api-reference/speech-to-text/convert. */
function createElevenLabsApi({ baseUrl, model, key }: VoiceProvider): TranscriptionApi {
  return {
    createRequest: (recording) => ({
      url: `${baseUrl}/v1/speech-to-text`,
      headers: getKeyHeader("xi-api-key", key),
      body: createForm(recording, { model_id: model, tag_audio_events: "false" }),
    }),
    readAnswer(answer) {
      const { words = [] } = elevenLabsSchema.safeParse(answer).data ?? {};
      return { ...readText(answer), seconds: words.at(-1)?.end };
    },
  };
}

const deepgramSchema = z.object({
  metadata: z.object({ duration: z.number().nonnegative() }).optional().catch(undefined),
  results: z.object({
    channels: z
      .array(z.object({ alternatives: z.array(z.object({ transcript: z.string() })).min(1) }))
      .min(1),
  }),
});

/** The API of https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded. */
function createDeepgramApi({ baseUrl, model, key }: VoiceProvider): TranscriptionApi {
  const query = new URLSearchParams({ model, smart_format: "true", detect_language: "true" });
  return {
    createRequest: ({ bytes, mimeType }) => ({
      url: `${baseUrl}/v1/listen?${query}`,
      headers: { "content-type": mimeType, ...getKeyHeader("authorization", key && `Token ${key}`) },
      body: new Uint8Array(bytes),
    }),
    readAnswer(answer) {
      const { success, data } = deepgramSchema.safeParse(answer);
      if (!success) throw new Error("its response was not text");
      const texts = data.results.channels.flatMap(({ alternatives: [best] }) => best?.transcript ?? []);
      return { text: boundText(texts.join("\n")), tokens: undefined, seconds: data.metadata?.duration };
    },
  };
}

function getKeyHeader(name: string, value: string | undefined): Readonly<Record<string, string>> {
  return value === undefined ? {} : { [name]: value };
}

function createForm(
  { bytes, mimeType, extension }: Recording,
  fields: Readonly<Record<string, string>>,
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
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

const textSchema = z.object({
  text: z.string(),
  // Some vendors report usage by duration, and others report none.
  usage: z
    .union([
      z.object({ input_tokens: z.int().nonnegative(), output_tokens: z.int().nonnegative() }),
      z.object({ seconds: z.number().nonnegative() }),
    ])
    .optional()
    .catch(undefined),
});

function readText(answer: unknown): Written {
  const { success, data } = textSchema.safeParse(answer);
  if (!success) throw new Error("its response was not text");
  const { text, usage } = data;
  return {
    text: boundText(text),
    tokens:
      usage !== undefined && "input_tokens" in usage
        ? { input: usage.input_tokens, output: usage.output_tokens }
        : undefined,
    seconds: usage !== undefined && "seconds" in usage ? usage.seconds : undefined,
  };
}

function boundText(text: string): string {
  return text.trim().slice(0, MAX_CHARACTERS).toWellFormed();
}
