import { type createSecretReader, mapSecret } from "../secrets.ts";
import { asRecord, asTexts, type SettingsReader, type SourcePath } from "../settings.ts";
import type { SettingImport } from "../source.ts";

/** APIs of providers, by OpenClaw's name. */
const APIS: Readonly<Record<string, string>> = {
  "openai-completions": "openai-chat",
  "openai-responses": "openai-responses",
  "anthropic-messages": "anthropic-messages",
  "google-generative-ai": "google-generative",
  ollama: "openai-chat",
  "azure-openai-responses": "openai-responses",
};

/** Providers that both systems know without an entry. */
const KNOWN = ["anthropic", "openai", "google", "mistral"];

/** Converts `models.providers`. Returns the names of the providers that can be used here. */
export function mapModels(
  reader: SettingsReader,
  secrets: ReturnType<typeof createSecretReader>,
): ReadonlyMap<string, string> {
  const usable = new Map<string, string>(KNOWN.map((name) => [name, ""]));
  for (const name of reader.keys("models", "providers")) {
    const at: SourcePath = ["models", "providers", name];
    const to: SettingImport["path"] = ["models", "providers", name];
    const theirs = reader.text(...at, "api") ?? "openai-completions";
    const api = Object.hasOwn(APIS, theirs) ? APIS[theirs] : undefined;
    const auth = reader.text(...at, "auth");
    if (api === undefined || auth === "oauth" || auth === "aws-sdk") {
      reader.note(at, "unsupported", `The API ${theirs}${auth === undefined ? "" : ` with ${auth}`}.`);
      usable.delete(name);
      continue;
    }
    const unit = `model provider ${name}`;
    usable.set(name, unit);
    reader.map([...at, "api"], [...to, "api"], api, {
      unit,
      loss: theirs.startsWith("azure") ? "Azure's address needs /openai/v1 at its end. Try it." : undefined,
    });
    const baseUrl = reader.text(...at, "baseUrl");
    if (baseUrl !== undefined)
      reader.map(
        [...at, "baseUrl"],
        [...to, "baseUrl"],
        theirs === "ollama" ? withVersion(baseUrl) : baseUrl,
        { unit },
      );
    if (reader.has(...at, "apiKey"))
      mapSecret(
        reader,
        [...at, "apiKey"],
        [...to, "apiKey"],
        secrets.read(reader.get(...at, "apiKey"), `model-${name}`),
        unit,
      );
    for (const header of reader.keys(...at, "headers"))
      mapSecret(
        reader,
        [...at, "headers", header],
        [...to, "headers", header],
        secrets.read(reader.get(...at, "headers", header), `model-${name}-${header}`),
        unit,
      );
    const seconds = reader.number(...at, "timeoutSeconds");
    if (seconds !== undefined)
      reader.map(
        [...at, "timeoutSeconds"],
        [...to, "timeouts"],
        { firstByteMs: seconds * 1_000, idleMs: seconds * 1_000 },
        { unit },
      );
    const models = reader.get(...at, "models");
    if (Array.isArray(models))
      reader.map([...at, "models"], [...to, "models"], models.map(convertModel), { unit });
  }
  for (const [name, keys] of Object.entries(secrets.stored.profiles)) {
    if (keys.length === 0 || reader.has("models", "providers", name, "apiKey")) continue;
    if (!usable.has(name)) continue;
    const unit = usable.get(name) || `model provider ${name}`;
    usable.set(name, unit);
    for (const [index, value] of keys.entries())
      reader.map([], ["models", "providers", name, "apiKey", index], undefined, {
        unit,
        secret: { name: `model-${name}-${index + 1}`, value },
      });
    if (!reader.has("models", "providers", name) && API_OF_KNOWN[name] !== undefined)
      reader.map([], ["models", "providers", name, "api"], API_OF_KNOWN[name], { unit });
  }
  return usable;
}

const API_OF_KNOWN: Readonly<Record<string, string>> = {
  anthropic: "anthropic-messages",
  openai: "openai-responses",
  google: "google-generative",
  mistral: "mistral-chat",
};

function withVersion(url: string): string {
  return /\/v\d+\/?$/.test(url) ? url : `${url.replace(/\/+$/, "")}/v1`;
}

const INPUTS = ["text", "image", "audio", "file"];

function convertModel(model: unknown): Record<string, unknown> {
  const { id, name, contextWindow, maxTokens, input, cost } = asRecord(model) ?? {};
  const prices = Object.entries(asRecord(cost) ?? {}).filter(
    ([key, price]) =>
      ["input", "output", "cacheRead", "cacheWrite"].includes(key) && typeof price === "number",
  );
  const isFree = prices.every(([, price]) => price === 0);
  const inputs = asTexts(input).filter((each) => INPUTS.includes(each));
  return {
    id,
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof contextWindow === "number" ? { contextWindow } : {}),
    ...(typeof maxTokens === "number" ? { maxOutputTokens: maxTokens } : {}),
    ...(inputs.length === 0 ? {} : { input: inputs }),
    ...(prices.length < 2 || isFree ? {} : { prices: Object.fromEntries(prices) }),
  };
}

/** Converts `provider/model`. Returns undefined if its provider cannot be used here. */
export function convertModelName(
  name: string | undefined,
  usable: ReadonlyMap<string, string>,
): { readonly name: string; readonly unit: string | undefined } | undefined {
  const provider = name?.split("/", 1)[0] ?? "";
  if (name === undefined || !/^[^/\s]+\/\S+$/.test(name) || !usable.has(provider)) return undefined;
  return { name, unit: usable.get(provider) || undefined };
}
