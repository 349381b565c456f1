import type { Config, LoadedConfig, Problem } from "@signalbox/config";
import { KEY_VARIABLES } from "@signalbox/llm-providers";

/** Environment variables of the gateway. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A server that transcribes recordings or speaks text, and one of its models. */
export interface VoiceProvider {
  /** Base URL without a trailing slash. */
  readonly baseUrl: string;
  readonly api: Config["models"]["providers"][string]["api"];
  readonly model: string;
  readonly key: string | undefined;
  /** Configured headers, sent with each request. */
  readonly headers: Readonly<Record<string, string>>;
}

/** APIs of servers that have no chat models. */
const VOICE_APIS: readonly string[] = ["elevenlabs", "deepgram", "whisper-cpp"];
/** Base URLs of vendors, by API or by the name of a provider. */
const PUBLIC_URLS: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1",
  mistral: "https://api.mistral.ai/v1",
  elevenlabs: "https://api.elevenlabs.io",
  deepgram: "https://api.deepgram.com",
};
const KEYS: Readonly<Record<string, readonly string[]>> = {
  ...KEY_VARIABLES,
  elevenlabs: ["ELEVENLABS_API_KEY"],
  deepgram: ["DEEPGRAM_API_KEY"],
};

/** Returns true if a provider serves only `media.speech` and `media.transcription`. */
export function isVoiceApi(api: string): boolean {
  return VOICE_APIS.includes(api);
}

/** Reports the vendors' own services for which no key is set. */
export function voiceKeyProblems({ config, problem }: LoadedConfig, env: Environment): Problem[] {
  const { transcription, speech } = config.media;
  const used = new Set([transcription, speech?.model ?? ""].map((reference) => reference.split("/")[0]));
  return Object.entries(config.models.providers).flatMap(([name, { api, apiKey, baseUrl }]) => {
    const variables = isVoiceApi(api) ? (KEYS[api] ?? []) : [];
    const hasKey = apiKey !== undefined || variables.some((variable) => env[variable]);
    if (!used.has(name) || variables.length === 0 || baseUrl !== undefined || hasKey) return [];
    return problem(["models", "providers", name, "apiKey"], {
      severity: "error",
      message: "has no key",
      remedy: `Set models.providers.${name}.apiKey or the environment variable ${variables.join(" or ")}.`,
      disables: `voice of the provider ${name}`,
    });
  });
}

/**
 * Returns the server of a model. A provider without a valid entry is not used, because content intended for its URL
 * must not go to the vendor's public URL.
 *
 * @param reference `provider/model`
 */
export function findVoiceProvider(
  reference: string,
  { models }: Pick<Config, "models">,
  env: Environment,
): VoiceProvider | undefined {
  const [provider = "", ...model] = reference.split("/");
  const entry = models.providers[provider];
  if (entry === undefined) return undefined;
  const vendor = isVoiceApi(entry.api) ? entry.api : provider;
  const baseUrl = entry.baseUrl ?? PUBLIC_URLS[vendor];
  if (baseUrl === undefined) return undefined;
  const [key] = [entry.apiKey ?? (KEYS[vendor] ?? []).flatMap((variable) => env[variable] || [])].flat();
  return {
    baseUrl: baseUrl.replace(/\/+$/, ""),
    api: entry.api,
    model: model.join("/"),
    key,
    headers: entry.headers ?? {},
  };
}
