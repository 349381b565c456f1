import type { Model, StreamModel } from "@signalbox/agent-core";
import type { LoadedConfig, ModelConfig, Problem, ProviderConfig } from "@signalbox/config";
import {
  type Account,
  type Catalogue,
  createCatalogue,
  createModelRunner,
  createProviders,
  defaultAccounts,
  type ModelOverride,
  type Timeouts,
} from "@signalbox/llm-providers";
import { anthropicMessages } from "@signalbox/llm-providers/anthropic";
import { demo, demoModel } from "@signalbox/llm-providers/demo";
import { googleGenerative } from "@signalbox/llm-providers/google";
import { mistralChat } from "@signalbox/llm-providers/mistral";
import { openaiChat } from "@signalbox/llm-providers/openai-chat";
import { openaiResponses } from "@signalbox/llm-providers/openai-responses";
import type { Agent, Agents } from "./agents.ts";
import { createRedactor } from "./log.ts";

/** What an agent's turns are asked of. */
export interface AgentModel {
  readonly model: Model;
  /** With the agent's fallbacks behind it. */
  readonly stream: StreamModel;
  readonly demo: boolean;
}

/** Every model the configuration can reach. */
export interface Models {
  readonly problems: readonly Problem[];
  /** Whether nothing but the offline demo model can answer. */
  readonly demoOnly: boolean;
  /**
   * The agent's model, or the one a session chose instead, as long as it can be reached; `undefined` where none of them
   * can.
   */
  of(agent: Agent, override?: string): AgentModel | undefined;
  /** A model by its reference, where its account is usable. */
  find(reference: string): Model | undefined;
  /** The models that can be chosen by name, as `provider/model`. */
  offered(): readonly string[];
  /** What somebody typed, as `provider/model`; `undefined` where it cannot be reached, or is not known of its provider. */
  choose(typed: string): string | undefined;
}

/** Environment variables that hold the keys of the well-known accounts. */
const KEY_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["ANTHROPIC_API_KEY"],
  openai: ["OPENAI_API_KEY"],
  google: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  mistral: ["MISTRAL_API_KEY"],
};

/** Asked where an agent names no model, in this order of accounts. */
const DEFAULT_MODELS: Readonly<Record<string, string>> = {
  anthropic: "anthropic/claude-sonnet-4-6",
  openai: "openai/gpt-5.2",
  google: "google/gemini-2.5-pro",
  mistral: "mistral/mistral-large-latest",
};

/** Servers of one's own ask for no key; the vendors' do. */
const KEYLESS_APIS = new Set(["openai-chat", "demo"]);

/** Makes the accounts, their runner and the agents' models, and says which of them cannot work. */
export function resolveModels(
  loaded: LoadedConfig,
  agents: Agents,
  env: Readonly<Record<string, string | undefined>>,
): Models {
  const { accounts, configured, problems } = usableAccounts(loaded, env);
  const demoOnly = accounts.length === 0;
  const providers = createProviders([
    anthropicMessages,
    openaiResponses,
    openaiChat,
    mistralChat,
    googleGenerative,
    demo,
  ]);
  const redact = createRedactor([...loaded.secrets, ...accounts.flatMap(({ keys }) => keys)]);
  const runner = createModelRunner({ providers, accounts: [...accounts, DEMO_ACCOUNT], redact });
  const catalogue = createCatalogue(
    [...accounts, DEMO_ACCOUNT].map((account) => {
      const models = configured[account.name]?.models.map(overrideOf);
      return { name: account.name, api: account.api, ...(models === undefined ? {} : { models }) };
    }),
  );
  const fallbackReference = accounts
    .map(({ name }) => DEFAULT_MODELS[name])
    .find((reference) => reference !== undefined);
  const firstListed = accounts.flatMap(
    ({ name }) => configured[name]?.models.map((model) => `${name}/${model.id}`) ?? [],
  )[0];
  const defaultReference = fallbackReference ?? firstListed;
  problems.push(...modelProblems(loaded, agents, catalogue, demoOnly));

  const resolve = (reference: string): Model | undefined => catalogue.resolve(reference)?.model;
  const reachable = new Set((demoOnly ? [DEMO_ACCOUNT] : accounts).map(({ name }) => name));
  const offered = catalogue.list().filter(({ provider }) => reachable.has(provider));
  const choose = (typed: string): string | undefined => {
    const found = catalogue.resolve(typed);
    if (found === undefined || !reachable.has(found.model.provider)) return undefined;
    const { provider, id } = found.model;
    // An unknown id is a slip where the provider's models are known, and anything goes where they are not.
    const slip = found.warnings.length > 0 && offered.some((one) => one.provider === provider);
    return slip ? undefined : `${provider}/${id}`;
  };
  return {
    problems,
    demoOnly,
    find: resolve,
    offered: () => offered.map(({ provider, id }) => `${provider}/${id}`),
    choose,
    of(agent, override) {
      if (demoOnly) return { model: demoModel, stream: runner.stream, demo: true };
      const chosen = override !== undefined && choose(override) !== undefined ? override : undefined;
      const references = [chosen ?? agent.model ?? defaultReference, ...agent.fallbacks];
      const [model, ...fallbacks] = references.flatMap((reference) =>
        reference ? (resolve(reference) ?? []) : [],
      );
      if (model === undefined) return undefined;
      return {
        model,
        stream: fallbacks.length > 0 ? runner.withFallbacks(fallbacks) : runner.stream,
        demo: model.api === demoModel.api,
      };
    },
  };
}

const DEMO_ACCOUNT: Account = { name: demoModel.provider, api: demoModel.api, keys: [] };

/** Accounts with a key: the configured ones, and the well-known ones whose key is in the environment. */
function usableAccounts(
  loaded: LoadedConfig,
  env: Readonly<Record<string, string | undefined>>,
): { accounts: Account[]; configured: Readonly<Record<string, ProviderConfig>>; problems: Problem[] } {
  const configured = loaded.config.models.providers;
  const problems: Problem[] = [];
  const accounts: Account[] = [];
  for (const [name, provider] of Object.entries(configured)) {
    const keys = keysOf(provider, name, env);
    if (keys.length === 0 && !KEYLESS_APIS.has(provider.api)) {
      const variable = KEY_VARIABLES[name]?.[0];
      // A variable that is not set has been reported as that already.
      if (loaded.problems.some((problem) => problem.path === `models.providers.${name}.apiKey`)) continue;
      problems.push(
        loaded.problem(["models", "providers", name, "apiKey"], {
          severity: "error",
          message: "has no key",
          remedy: `Set models.providers.${name}.apiKey${variable === undefined ? "" : ` or the environment variable ${variable}`}.`,
          disables: `model provider ${name}`,
        }),
      );
      continue;
    }
    accounts.push({
      name,
      api: provider.api,
      keys,
      ...(provider.baseUrl === undefined ? {} : { baseUrl: provider.baseUrl.replace(/\/+$/, "") }),
      ...(provider.headers === undefined ? {} : { headers: provider.headers }),
      ...(provider.timeouts === undefined ? {} : { timeouts: timeoutsOf(provider.timeouts) }),
    });
  }
  for (const { name, api } of defaultAccounts) {
    if (Object.hasOwn(configured, name)) continue;
    const keys = keysOf(undefined, name, env);
    if (keys.length > 0) accounts.push({ name, api, keys });
  }
  return { accounts, configured, problems };
}

/** Only what is given. */
function timeoutsOf({ firstByteMs, idleMs }: NonNullable<ProviderConfig["timeouts"]>): Timeouts {
  return {
    ...(firstByteMs === undefined ? {} : { firstByteMs }),
    ...(idleMs === undefined ? {} : { idleMs }),
  };
}

function keysOf(
  provider: ProviderConfig | undefined,
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  if (provider?.apiKey !== undefined)
    return typeof provider.apiKey === "string" ? [provider.apiKey] : provider.apiKey;
  return (KEY_VARIABLES[name] ?? []).flatMap((variable) => env[variable] || []).slice(0, 1);
}

/** References that no usable account fits, and unknown models that run on assumptions. */
function modelProblems(
  loaded: LoadedConfig,
  agents: Agents,
  catalogue: Catalogue,
  demoOnly: boolean,
): Problem[] {
  if (demoOnly) return [];
  const { defaults, list } = loaded.config.agents;
  const named = [
    { path: ["agents", "defaults", "model"], references: [defaults.model] },
    { path: ["agents", "defaults", "fallbacks"], references: defaults.fallbacks ?? [] },
    ...list.flatMap((agent, index) => [
      { path: ["agents", "list", index, "model"], references: [agent.model] },
      { path: ["agents", "list", index, "fallbacks"], references: agent.fallbacks ?? [] },
    ]),
  ];
  const problems: Problem[] = [];
  for (const { path, references } of named) {
    for (const reference of references) {
      if (reference === undefined) continue;
      const resolved = catalogue.resolve(reference);
      const account = reference.split("/")[0] ?? "";
      if (resolved === undefined) {
        const users = agents.all.filter((agent) => agent.model === reference).map((agent) => agent.id);
        problems.push(
          loaded.problem(path, {
            severity: "error",
            message: `no usable model provider is called ${account}`,
            remedy: `Give models.providers.${account} a key, or name a model of another provider.`,
            ...(users.length > 0 ? { disables: `${reference} for ${users.join(", ")}` } : {}),
          }),
        );
      }
      for (const { message } of resolved?.warnings ?? []) {
        problems.push(
          loaded.problem(path, {
            severity: "warning",
            message,
            remedy: "Check the spelling, or state the model's limits.",
          }),
        );
      }
    }
  }
  return problems;
}

function overrideOf({ prices, ...model }: ModelConfig): ModelOverride {
  const given = Object.fromEntries(Object.entries(model).filter(([, value]) => value !== undefined));
  const override: ModelOverride = { ...given, id: model.id };
  if (prices === undefined) return override;
  const micros = Object.fromEntries(
    Object.entries(prices).map(([name, dollars]) => [name, Math.round((dollars ?? 0) * 1e6)]),
  );
  return { ...override, prices: { input: 0, output: 0, ...micros, checked: "configured" } };
}
