import type { Recording, Transcriber } from "@signalbox/attachments";
import type { Config, LoadedConfig, Problem } from "@signalbox/config";
import { parseJson, readResponse } from "./read-response.ts";
import { createTranscriptionApi, type Written } from "./transcription-apis.ts";
import { type Environment, findVoiceProvider } from "./voice-provider.ts";

export type { Written } from "./transcription-apis.ts";

/** Charges the sender for a transcription, or rejects it. */
export type PayForTranscription = (recording: Recording, ask: () => Promise<Written>) => Promise<Written>;

/** Maximum size of a response, in bytes. A transcript of an hour with the times of its words has about 1 MB. */
const MAX_RESPONSE_BYTES = 5_000_000;

type TranscriptionConfig = Pick<Config, "media" | "models">;

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
  const { transcription } = config.media;
  const provider = findVoiceProvider(transcription, config, env);
  if (provider === undefined) return undefined;
  const api = createTranscriptionApi(provider);
  async function ask(recording: Recording, signal: AbortSignal): Promise<Written> {
    const { url, headers, body } = api.createRequest(recording);
    const response = await fetch(url, {
      method: "POST",
      headers: { ...headers, ...provider?.headers },
      body,
      redirect: "error",
      signal,
    });
    if (!response.ok) throw new Error(`it responded with status ${response.status}`);
    return api.readAnswer(parseJson(await readResponse(response, MAX_RESPONSE_BYTES)));
  }
  return {
    name: transcription,
    transcribe: async (recording, signal) => (await pay(recording, () => ask(recording, signal))).text,
  };
}

/** Reports an unknown transcription provider or one without a URL. Recordings are then only mentioned to the model. */
export function transcriptionProblems({ config, problem }: LoadedConfig): Problem[] {
  const { transcription } = config.media;
  if (transcription === "none" || findVoiceProvider(transcription, config, {}) !== undefined) return [];
  const [provider] = transcription.split("/");
  return [
    problem(["media", "transcription"], {
      severity: "error",
      message: `models.providers has no ${provider} that can transcribe recordings`,
      remedy:
        "Add it there (with a baseUrl unless it is openai or mistral, or its api is elevenlabs or deepgram), or use none.",
      disables: "transcription of recordings",
    }),
  ];
}
