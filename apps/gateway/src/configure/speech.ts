import type { Config, LoadedConfig, Problem } from "@signalbox/config";
import { z } from "zod";
import { parseJson, readResponse } from "./read-response.ts";
import { type Environment, findVoiceProvider, type VoiceProvider } from "./voice-provider.ts";

type SpeechSettings = NonNullable<Config["media"]["speech"]>;
type SpeechConfig = Pick<Config, "media" | "models">;

/**
 * Speaks a text.
 *
 * @returns the bytes of the response. Their format is not checked.
 * @throws SpeechRefusedError if the service did not accept the request, and other errors if its response broke off
 */
export type Synthesize = (text: string, signal: AbortSignal) => Promise<Uint8Array>;

/** The service did not accept a request, so it charges nothing. */
export class SpeechRefusedError extends Error {
  override readonly name = "SpeechRefusedError";
}

/** Maximum size of a response, in bytes. Uncompressed, five minutes of speech at 24 kHz are 15 MB. */
const MAX_RESPONSE_BYTES = 25_000_000;
/** Maximum size of an error response, in bytes. */
const MAX_ERROR_BYTES = 65_536;

/** Creates the synthesizer for a configuration. Returns undefined if none is configured. */
export function createSynthesizer(
  config: SpeechConfig,
  env: Environment,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Synthesize | undefined {
  const { speech } = config.media;
  const provider = speech && findVoiceProvider(speech.model, config, env);
  if (speech === undefined || provider === undefined || findUnsupported(speech, provider) !== undefined)
    return undefined;
  return async (text, signal) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(speech.timeoutMs)]);
    const { url, headers, body } =
      provider.api === "elevenlabs"
        ? createElevenLabsRequest(provider, speech, text)
        : createOpenAiRequest(provider, speech, text);
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers, ...provider.headers },
      body: JSON.stringify(body),
      redirect: "error",
      signal: limit,
    });
    if (!response.ok) throw new SpeechRefusedError(await describeRefusal(response));
    return readResponse(response, MAX_RESPONSE_BYTES);
  };
}

/** Reports a provider or settings with which answers cannot be spoken. Answers are then sent as text only. */
export function speechProblems({ config, problem }: LoadedConfig): Problem[] {
  const { speech } = config.media;
  if (speech === undefined) return [];
  const disables = "spoken answers";
  const provider = findVoiceProvider(speech.model, config, {});
  if (provider === undefined) {
    const [name] = speech.model.split("/");
    return [
      problem(["media", "speech", "model"], {
        severity: "error",
        message: `models.providers has no ${name} that can speak`,
        remedy: "Add it there (with a baseUrl unless it is openai, or its api is elevenlabs).",
        disables,
      }),
    ];
  }
  const unsupported = findUnsupported(speech, provider);
  if (unsupported === undefined) return [];
  const { field, message, remedy } = unsupported;
  return [problem(["media", "speech", field], { severity: "error", message, remedy, disables })];
}

interface Unsupported {
  readonly field: "model" | "format" | "instructions";
  readonly message: string;
  readonly remedy: string;
}

/** Returns the setting that the provider does not support, if any. */
function findUnsupported(
  { format, instructions }: SpeechSettings,
  { api }: VoiceProvider,
): Unsupported | undefined {
  if (api === "deepgram" || api === "whisper-cpp")
    return {
      field: "model",
      message: `the api ${api} only transcribes`,
      remedy: "Use a provider with OpenAI's speech API, or ElevenLabs.",
    };
  if (api !== "elevenlabs") return undefined;
  if (ELEVENLABS_FORMATS[format] === undefined)
    return {
      field: "format",
      message: `ElevenLabs does not offer ${format}`,
      remedy: `Use ${Object.keys(ELEVENLABS_FORMATS).join(" or ")}.`,
    };
  if (instructions === undefined) return undefined;
  return {
    field: "instructions",
    message: "ElevenLabs accepts no instructions",
    remedy: "Remove them, and choose a voice with the tone that you want.",
  };
}

interface VendorRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** Builds a request for https://platform.openai.com/docs/api-reference/audio/createSpeech. */
function createOpenAiRequest(
  { baseUrl, model, key }: VoiceProvider,
  { voice, format, instructions }: SpeechSettings,
  input: string,
): VendorRequest {
  return {
    url: `${baseUrl}/audio/speech`,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    body: { model, input, voice, response_format: format, instructions },
  };
}

/** The names of formats at ElevenLabs, with the sampling rate and the bit rate. */
const ELEVENLABS_FORMATS: Readonly<Partial<Record<SpeechSettings["format"], string>>> = {
  opus: "opus_48000_64",
  mp3: "mp3_44100_128",
};

/** Builds a request for https://elevenlabs.io/docs/api-reference/text-to-speech/convert. */
function createElevenLabsRequest(
  { baseUrl, model, key }: VoiceProvider,
  { voice, format }: SpeechSettings,
  text: string,
): VendorRequest {
  const query = new URLSearchParams({ output_format: ELEVENLABS_FORMATS[format] ?? format });
  return {
    url: `${baseUrl}/v1/text-to-speech/${encodeURIComponent(voice)}?${query}`,
    headers: key === undefined ? {} : { "xi-api-key": key },
    body: { text, model_id: model },
  };
}

/** Error bodies of OpenAI, and of ElevenLabs, whose `detail` is a text or an object. */
const errorSchema = z.union([
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ detail: z.object({ message: z.string() }) }).transform(({ detail }) => detail.message),
  z.object({ detail: z.string() }).transform(({ detail }) => detail),
]);

async function describeRefusal(response: Response): Promise<string> {
  const bytes = await readResponse(response, MAX_ERROR_BYTES).catch(() => Buffer.alloc(0));
  const reason = errorSchema.safeParse(parseJson(bytes)).data;
  const status = `the service responded with status ${response.status}`;
  return reason === undefined ? status : `${status}: ${reason.slice(0, 300)}`;
}
