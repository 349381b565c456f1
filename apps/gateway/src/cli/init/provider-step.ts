import type { ProviderConfig } from "@signalbox/config";
import { GatewayError, storeSecret } from "@signalbox/home";
import { createModels, KEY_VARIABLES } from "@signalbox/llm-providers";
import { providerEntry } from "../../configure/models.ts";
import { assertValidSection } from "./assert-valid-section.ts";
import { addPackages } from "./packages.ts";
import type { InitOptions, Step } from "./step.ts";
import { answersAt } from "./write-answers.ts";

const OPTIONS = [
  { value: "anthropic", label: "Anthropic" },
  { value: "openai", label: "OpenAI" },
  { value: "google", label: "Google Gemini" },
  { value: "mistral", label: "Mistral" },
  {
    value: "local",
    label: "Your own server",
    hint: "Ollama, vLLM and others with an OpenAI-compatible chat API",
  },
  { value: "none", label: "None yet", hint: "the offline demo model answers" },
] as const;

const CHECK_TOKENS = 16;

/** Configures a provider and model. The key is tested with one call and stored in a separate file. */
export async function providerStep(step: Step, options: InitOptions): Promise<void> {
  const { home, env, asker, missingPackages, change, loaded } = step;
  const name = await asker.choose({
    message: "Which model provider do you want to use?",
    given: options.provider,
    initial: "none",
    options: OPTIONS,
  });
  if (name === undefined || name === "none") return modelAlone(change, options);
  const configuration = loaded();
  const { models: configured, agents } = configuration.config;
  const before = configured.providers[name];
  if (before === undefined) assertValidSection(configuration, `models.providers.${name}`);
  const answered =
    name === "local"
      ? await askLocal(asker, options, before)
      : { entry: await vendorEntry(name, env, asker, options, before) };
  const { entry } = answered;
  if (entry === undefined)
    return name === "local"
      ? leaveOut(asker, "local was not set up, because it needs an address: add --base-url.")
      : leaveOut(asker, `${name} was not set up, because it needs a key: add --api-key.`);
  const asked = before === undefined ? entry : { ...providerEntry(before), ...entry };
  const models = createModels({ [name]: asked }, { env, retry: { retries: 0 } });
  await addPackages(asker, missingPackages(models.requires(name)));
  const model = await asker.text({
    message: "Which model?",
    given: toModelReference(name, answered.model ?? options.model),
    initial: [agents.defaults.model, models.defaultReference].find((reference) => belongsTo(name, reference)),
  });
  if (model === undefined)
    return leaveOut(asker, `${name} was not set up, because it needs a model: add --model ${name}/<model>.`);
  if (options.check !== false) await tryOut(step, models, model);
  const { apiKey, ...rest } = entry;
  const kept = {
    ...rest,
    ...(apiKey === undefined ? {} : { apiKey: storeSecret(home, `${name}-key`, apiKey) }),
  };
  change([
    ...answersAt(["models", "providers", name], kept, before !== undefined),
    { path: ["agents", "defaults", "model"], value: model },
  ]);
}

/** At a terminal, the person skipped the step. On a command line, a required option is missing. */
function leaveOut(asker: Step["asker"], why: string): void {
  if (!asker.asksPerson) throw new GatewayError("usage", why);
  asker.say(why);
}

function belongsTo(provider: string, model: string | undefined): boolean {
  return model?.startsWith(`${provider}/`) === true;
}

/** Returns the model reference for agents. For a local server, the model's name is sufficient. */
function toModelReference(provider: string, model: string | undefined): string | undefined {
  if (provider !== "local" || model === undefined || belongsTo(provider, model)) return model;
  return `${provider}/${model}`;
}

/** Sets only the model, for a provider that is already configured or whose key is in the environment. */
function modelAlone(change: Step["change"], { model, apiKey, baseUrl }: InitOptions): void {
  if (apiKey !== undefined || baseUrl !== undefined)
    throw new GatewayError(
      "usage",
      `${apiKey === undefined ? "--base-url" : "--api-key"} needs a provider: add --provider.`,
    );
  if (model !== undefined) change([{ path: ["agents", "defaults", "model"], value: model }]);
}

interface Entry {
  readonly api?: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly models?: readonly { readonly id: string }[];
}

/** Returns a vendor's provider entry. A key in the environment is not copied to the configuration. */
async function vendorEntry(
  name: string,
  env: Step["env"],
  asker: Step["asker"],
  { apiKey: given, baseUrl }: InitOptions,
  before: ProviderConfig | undefined,
): Promise<Entry | undefined> {
  const variable = given === undefined ? KEY_VARIABLES[name]?.find((candidate) => env[candidate]) : undefined;
  const address = {
    ...(before === undefined ? { api: APIS[name] ?? "openai-chat" } : {}),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  };
  if (variable !== undefined) {
    asker.say(`Using the key in ${variable}.`);
    return baseUrl === undefined ? {} : address;
  }
  const apiKey = await asker.secret({ message: "API key", given });
  return apiKey === undefined ? undefined : { ...address, apiKey };
}

/** Wire formats of the vendors. A provider entry requires one. */
const APIS: Readonly<Record<string, string>> = {
  anthropic: "anthropic-messages",
  openai: "openai-responses",
  google: "google-generative",
  mistral: "mistral-chat",
};

/** Asks for a local server and its model, unless an option names the model. */
async function askLocal(
  asker: Step["asker"],
  options: InitOptions,
  before: ProviderConfig | undefined,
): Promise<{ readonly entry: Entry | undefined; readonly model?: string | undefined }> {
  const baseUrl = await asker.text({
    message: "Address of the server",
    given: options.baseUrl,
    hint: before?.baseUrl ?? "http://127.0.0.1:11434/v1",
    refuse: (text) =>
      /^https?:\/\//i.test(text) && URL.canParse(text)
        ? undefined
        : `"${text}" is not a web address: write it in full, such as http://127.0.0.1:11434/v1`,
  });
  if (baseUrl === undefined && before === undefined) return { entry: undefined };
  const model = await asker.text({
    message: "Name of the model",
    given: options.model?.replace(/^local\//, ""),
  });
  const known = before?.models ?? [];
  const isNew = model !== undefined && !known.some(({ id }) => id === model);
  const entry = {
    ...(before === undefined ? { api: "openai-chat" } : {}),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
    ...(isNew ? { models: [...known, { id: model }] } : {}),
  };
  return { entry, model };
}

/** Tests the provider with one call and prints the result, including the vendor's own error message. */
async function tryOut(
  { asker, failed }: Step,
  models: ReturnType<typeof createModels>,
  reference: string,
): Promise<void> {
  const answer = await models.complete(reference, "Reply with the word OK.", {
    maxOutputTokens: CHECK_TOKENS,
  });
  if (answer.ok) asker.say(`${reference} answers.`);
  else
    failed(
      `${reference} does not answer: ${answer.error.message.replace(/\.?$/, ".")} The settings were saved anyway; fix them with \`signalbox init\` or \`signalbox config set\`.`,
    );
}
