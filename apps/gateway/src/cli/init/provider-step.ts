import type { ProviderConfig } from "@signalbox/config";
import { GatewayError, openVault, storeSecret } from "@signalbox/home";
import { createModels } from "@signalbox/llm-providers";
import { MODEL_VENDORS } from "../../configure/model-vendors.ts";
import { providerEntry } from "../../configure/models.ts";
import { openClaudeSetup } from "../../configure/subscriptions/claude-entry.ts";
import { openSubscriptions } from "../../configure/subscriptions/credentials.ts";
import { askInOrder } from "./ask-in-order.ts";
import { assertValidSection } from "./assert-valid-section.ts";
import { addPackages } from "./packages.ts";
import { askClaude, askLocal, askVendor, type ProviderAccess } from "./provider-access.ts";
import { askModel, belongsTo, type TestedModel, testModel } from "./provider-model.ts";
import type { InitOptions, Step } from "./step.ts";
import { answersAt } from "./write-answers.ts";

const HINTS = {
  address: "Ollama, vLLM and others with an OpenAI-compatible chat API",
  token: "a setup token of Claude Code, which Anthropic may not permit",
} as const;

/**
 * Configures a provider and model. The key is tested as soon as it is entered, with one small call, and stored in a
 * separate file.
 */
export async function providerStep(step: Step, options: InitOptions): Promise<boolean> {
  const { asker, loaded } = step;
  const isAsked = asker.asksPerson && options.provider === undefined;
  const current = loaded().config.agents.defaults.model;
  let name: string | undefined;
  let access: ProviderAccess = {};
  let tested: TestedModel | undefined;
  let model: string | undefined;
  const isChosen = (): boolean => name !== undefined && name !== "none";
  await askInOrder([
    async () => {
      name = await asker.choose({
        message: "Which model provider do you want to use?",
        given: options.provider,
        initial: asker.asksPerson && current === undefined ? "anthropic" : "none",
        options: [
          ...MODEL_VENDORS.map(({ id, label, needs }) => ({
            value: id,
            label,
            ...(needs !== "key" && { hint: HINTS[needs] }),
          })),
          current === undefined
            ? { value: "none", label: "None yet", hint: "the offline demo model answers" }
            : { value: "none", label: `Keep ${current}` },
        ],
      });
      return isAsked;
    },
    async () => {
      if (!isChosen() || name === undefined) return false;
      const before = loaded().config.models.providers[name];
      if (before === undefined) assertValidSection(loaded(), `models.providers.${name}`);
      const ask = name === "local" ? askLocal : name === "claude" ? askClaude : askVendor;
      tested = undefined;
      access = await ask(step, { name, options, before }, async (given) => {
        const models = await openModels(step, String(name), given, before);
        const url =
          given.entry?.baseUrl ?? before?.baseUrl ?? MODEL_VENDORS.find(({ id }) => id === name)?.url;
        tested = await testModel(step, models, defaultModel(step, String(name), models), url);
        return tested;
      });
      return asker.asksPerson;
    },
    async () => {
      if (!isChosen() || name === undefined) return false;
      const before = loaded().config.models.providers[name];
      if (access.entry === undefined) return false;
      const models = await openModels(step, name, access, before);
      const given = toModelReference(name, access.model ?? options.model);
      model = await askModel(step, { name, models, given, initial: defaultModel(step, name, models) });
      if (model !== undefined && options.check !== false && tested?.reference !== model)
        tested = await testModel(step, models, model);
      return asker.asksPerson && given === undefined;
    },
  ]);
  if (name === undefined || !isChosen()) modelAlone(step, options);
  else await saveProvider(step, { name, access, model, tested });
  return isAsked;
}

async function openModels(step: Step, name: string, access: ProviderAccess, before?: ProviderConfig) {
  const { env, asker, missingPackages } = step;
  const { entry = {} } = access;
  const all =
    entry.subscription === "claude"
      ? openClaude(step, name, access, before).entry
      : before === undefined
        ? entry
        : { ...providerEntry(before), ...entry };
  const models = createModels({ [name]: all }, { env, retry: { retries: 0 } });
  await addPackages(asker, missingPackages(models.requires(name)));
  return models;
}

function openClaude(
  step: Step,
  provider: string,
  { entry, setupToken: pasted }: ProviderAccess,
  before?: ProviderConfig,
) {
  const baseUrl = entry?.baseUrl ?? before?.baseUrl;
  return openClaudeSetup({ provider, baseUrl, pasted, store: openStore(step) });
}

function openStore({ home, loaded, env }: Step) {
  return openSubscriptions(home, openVault(loaded(), env));
}

/** Returns the configured model of the provider, or a good one. */
function defaultModel(
  { loaded }: Step,
  name: string,
  models: ReturnType<typeof createModels>,
): string | undefined {
  const configured = loaded().config.agents.defaults.model;
  return [configured, models.defaultReference].find((reference) => belongsTo(name, reference));
}

async function saveProvider(
  step: Step,
  {
    name,
    access,
    model,
    tested,
  }: {
    readonly name: string;
    readonly access: ProviderAccess;
    readonly model: string | undefined;
    readonly tested: TestedModel | undefined;
  },
): Promise<void> {
  const { asker, home, change, loaded, failed } = step;
  const { entry } = access;
  const secret = name === "claude" ? "a setup token" : "a key";
  const needs = name === "local" ? "an address: add --base-url" : `${secret}: add --api-key`;
  const missing = entry === undefined ? needs : `a model: add --model ${name}/<model>`;
  if (entry === undefined || model === undefined) {
    const why = `${name} was not set up, because it needs ${missing}.`;
    // On a command line, a required option is missing.
    if (!asker.asksPerson) throw new GatewayError("usage", why);
    asker.say(why);
    return;
  }
  const before = loaded().config.models.providers[name];
  const { apiKey, ...rest } = entry;
  const kept = {
    ...rest,
    ...(apiKey === undefined ? {} : { apiKey: storeSecret(home, `${name}-key`, apiKey) }),
  };
  const { model: previous, fallbacks } = loaded().config.agents.defaults;
  const isLoneSubscription =
    entry.subscription !== undefined &&
    previous !== undefined &&
    fallbacks === undefined &&
    !belongsTo(name, previous);
  change(`the model ${model}`, [
    ...answersAt(["models", "providers", name], kept, before !== undefined),
    ...(isLoneSubscription ? [{ path: ["agents", "defaults", "fallbacks"], value: [previous] }] : []),
    { path: ["agents", "defaults", "model"], value: model },
  ]);
  if (access.setupToken !== undefined)
    await openStore(step).set(name, openClaude(step, name, access, before).credentials);
  if (tested?.isOk === false)
    failed(
      `${tested.reference} does not answer: ${tested.reason} The settings were saved anyway; fix them with \`signalbox init\` or \`signalbox config set\`.`,
    );
}

/** Returns the model reference for agents. For a local server, the model's name is sufficient. */
function toModelReference(provider: string, model: string | undefined): string | undefined {
  if (provider !== "local" || model === undefined || belongsTo(provider, model)) return model;
  return `${provider}/${model}`;
}

/** Sets only the model, for a provider that is already configured or whose key is in the environment. */
function modelAlone({ change }: Step, { model, apiKey, baseUrl }: InitOptions): void {
  if (apiKey !== undefined || baseUrl !== undefined)
    throw new GatewayError(
      "usage",
      `${apiKey === undefined ? "--base-url" : "--api-key"} needs a provider: add --provider.`,
    );
  if (model !== undefined)
    change(`the model ${model}`, [{ path: ["agents", "defaults", "model"], value: model }]);
}
