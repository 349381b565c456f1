import type { Model, StreamModel } from "@signalbox/agent-core";
import {
  didYouMean,
  type LoadedConfig,
  type ModelConfig,
  type Problem,
  type ProviderConfig,
} from "@signalbox/config";
import type { Home } from "@signalbox/home";
import {
  createModels,
  defaultAccounts,
  type ModelOverride,
  type ModelProblem,
  type ProviderEntry,
  type Models as ReachableModels,
} from "@signalbox/llm-providers";
import { demoModel } from "@signalbox/llm-providers/demo";
import type { Vault } from "@signalbox/redaction";
import type { Agent, Agents } from "./agents.ts";
import { brokenProviders } from "./broken-providers.ts";
import { type HostPackages, installCommand } from "./host-packages.ts";
import { openSubscriptions, type SubscriptionStore } from "./subscriptions/credentials.ts";
import { setupTokenProblems, subscriptionProblems } from "./subscriptions/problems.ts";
import { createSubscriptionFetch, getSignInKey } from "./subscriptions/vendors.ts";
import { isVoiceApi } from "./voice-provider.ts";

/** The models that an agent's turns use. */
export interface AgentModel {
  readonly model: Model;
  /** Streams an answer from the model or from one of the agent's fallbacks. */
  readonly stream: StreamModel;
  /** Usable fallback models, in order. */
  readonly fallbacks: readonly Model[];
  readonly demo: boolean;
}

/** All models that are available with the configuration. */
export interface Models {
  readonly problems: readonly Problem[];
  /** True if the offline demo model answers because no key is set and the agent specifies no model. */
  readonly demo: boolean;
  /**
   * Returns the session's override if it is usable. Otherwise returns the agent's model, or the first usable fallback,
   * if any.
   */
  of(agent: Agent, override?: string): AgentModel | undefined;
  /** Returns the models that can be chosen by name. */
  list(): readonly Model[];
  /** Returns the models that can be chosen by name, as `provider/model`. */
  offered(): readonly string[];
  /**
   * Resolves a typed model name to `provider/model`. Returns undefined if the model is unusable or its provider does
   * not offer it.
   */
  choose(typed: string): string | undefined;
  /** Imports the vendor SDKs that the first request needs. See `Provider.load`. */
  load(at?: string): Promise<void>;
}

/** Creates the agents' models and reports models that cannot work. */
export function resolveModels(
  loaded: LoadedConfig,
  agents: Agents,
  env: Readonly<Record<string, string | undefined>>,
  vault: Vault,
  packages: HostPackages,
  home: Pick<Home, "dir">,
): Models {
  const configured = Object.entries(loaded.config.models.providers);
  const subscriptions = openSubscriptions(home, vault);
  const models = createModels(
    Object.fromEntries(
      configured.flatMap(([name, provider]) =>
        isVoiceApi(provider.api)
          ? []
          : [[name, withSubscription(name, providerEntry(provider), provider, subscriptions)]],
      ),
    ),
    { env, disabled: brokenProviders(loaded), redact: vault.redact },
  );
  const hasKeys = models.providers.length > 0;
  const choose = (typed: string): string | undefined => {
    const resolution = models.resolve(typed, { strict: true });
    if (!resolution.ok) return undefined;
    const { provider, id } = resolution.model;
    return !hasKeys || models.providers.includes(provider) ? `${provider}/${id}` : undefined;
  };
  const modelOf = (reference: string): readonly Model[] => {
    const resolution = models.resolve(reference);
    return resolution.ok ? [resolution.model] : [];
  };
  const of = (agent: Agent, override?: string): AgentModel | undefined => {
    const chosen = override !== undefined && choose(override) !== undefined ? override : undefined;
    const references = [chosen ?? agent.model ?? models.defaultReference, ...agent.fallbacks];
    for (const [at, reference] of references.entries()) {
      const fallbacks = references.slice(at + 1);
      const resolution = models.resolve(reference, { fallbacks });
      if (!resolution.ok) continue;
      const { model } = resolution;
      const { stream } = resolution;
      return { model, stream, fallbacks: fallbacks.flatMap(modelOf), demo: model.api === demoModel.api };
    }
    return undefined;
  };
  return {
    problems: [
      ...providerProblems(loaded, models),
      ...packageProblems(loaded, models, packages),
      ...agentProblems(loaded, agents, models),
      ...imageProblems(loaded, models),
      ...subscriptionProblems(loaded, agents, models.defaultReference),
      ...setupTokenProblems(loaded),
    ],
    demo: !hasKeys && agents.all.some((agent) => of(agent)?.demo === true),
    list: () => models.list(),
    offered: () => models.list().map(({ provider, id }) => `${provider}/${id}`),
    choose,
    load: models.load,
    of,
  };
}

/** Converts a provider's section into the model registry's format. */
export function providerEntry(configured: ProviderConfig): ProviderEntry {
  const { api, apiKey, baseUrl, headers, timeouts, models } = configured;
  return {
    api,
    ...withoutAbsent({ apiKey, baseUrl, headers, timeouts }),
    models: models.map(toModelOverride),
  };
}

/** Adds the sign-in with a subscription, if the provider uses one. */
function withSubscription(
  provider: string,
  entry: ProviderEntry,
  configured: ProviderConfig,
  store: SubscriptionStore,
): ProviderEntry {
  const key = getSignInKey(provider, configured);
  if (key === undefined) return entry;
  return { ...entry, baseUrl: key.baseUrl, fetch: createSubscriptionFetch(key, store) };
}

function toModelOverride({ prices, ...model }: ModelConfig): ModelOverride {
  const override: ModelOverride = { ...withoutAbsent(model), id: model.id };
  if (prices === undefined) return override;
  const micros = Object.fromEntries(
    Object.entries(prices).map(([name, dollars]) => [name, Math.round((dollars ?? 0) * 1e6)]),
  );
  return { ...override, prices: { input: 0, output: 0, ...micros, checked: "configured" } };
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Omits undefined properties. */
function withoutAbsent<T extends object>(given: T): Present<T>;
function withoutAbsent(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/**
 * Reports providers without a key, and providers whose key or headers cannot be sent. The schema reports other errors.
 */
function providerProblems(loaded: LoadedConfig, models: ReachableModels): Problem[] {
  return models.problems.flatMap((problem) => {
    const path = ["models", "providers", problem.provider];
    const fatal = { severity: "error", disables: `model provider ${problem.provider}` } as const;
    if (problem.code === "missing_key") {
      const remedy = getRemedy(problem, loaded);
      return loaded.problem([...path, "apiKey"], { ...fatal, message: "has no key", remedy });
    }
    if (problem.code !== "invalid_provider" || problem.field === undefined) return [];
    const { field } = problem;
    const isConfigured = field === "apiKey" || field === "headers";
    return loaded.problem(isConfigured ? [...path, field] : path, {
      ...fatal,
      message: describeProblem(problem),
      remedy: `Set ${isConfigured ? "it" : `the environment variable ${field}`} again, exactly as the vendor shows it.`,
    });
  });
}

/** Reports providers whose vendor SDK is not installed. */
function packageProblems(loaded: LoadedConfig, models: ReachableModels, packages: HostPackages): Problem[] {
  return models.providers.flatMap((provider) => {
    const missing = packages.missing(models.requires(provider));
    if (missing.length === 0) return [];
    return loaded.problem(["models", "providers", provider], {
      severity: "error",
      message: `needs ${missing.join(" and ")}, not installed`,
      remedy: installCommand(missing),
      disables: `model provider ${provider}`,
    });
  });
}

/** Describes a problem without its remedy, which is a separate field. */
function describeProblem({ code, provider, message }: ModelProblem): string {
  return code === "missing_key"
    ? `the provider ${provider} has no key`
    : message.replace(/; did you mean .*/, "").replace(/\.$/, "");
}

function getRemedy(problem: ModelProblem, { config }: LoadedConfig): string {
  if (problem.code === "invalid_provider")
    return `Correct models.providers.${problem.provider}, whose errors are listed separately.`;
  if (problem.code !== "missing_key") {
    const providers = [...Object.keys(config.models.providers), ...defaultAccounts.map(({ name }) => name)];
    const meant = problem.code === "unknown_provider" ? didYouMean(problem.provider, providers) : "";
    return `${meant}Use a model of a provider that works.`;
  }
  const or = problem.variable === undefined ? "" : ` or the environment variable ${problem.variable}`;
  return `Set models.providers.${problem.provider}.apiKey${or}.`;
}

/** Reports an image model that does not accept images. */
function imageProblems(loaded: LoadedConfig, models: ReachableModels): Problem[] {
  const { image } = loaded.config.tools;
  if (image === undefined) return [];
  const path = ["tools", "image", "model"];
  const disables = "tool image";
  const resolution = models.resolve(image.model, { strict: true });
  if (!resolution.ok) {
    const message = describeProblem(resolution.problem);
    const remedy = getRemedy(resolution.problem, loaded);
    return [loaded.problem(path, { severity: "error", message, remedy, disables })];
  }
  if (resolution.model.input.includes("image")) return [];
  const message = `${image.model} does not accept images`;
  return [
    loaded.problem(path, { severity: "error", message, remedy: "Choose a model that does.", disables }),
  ];
}

/** Reports model references that cannot be used, and unknown models, for which limits are assumed. */
function agentProblems(loaded: LoadedConfig, agents: Agents, models: ReachableModels): Problem[] {
  const offered = models.list().map(({ provider, id }) => `${provider}/${id}`);
  const { defaults, list } = loaded.config.agents;
  const named = [
    { path: ["agents", "defaults", "model"], references: [defaults.model] },
    { path: ["agents", "defaults", "fallbacks"], references: defaults.fallbacks ?? [] },
    ...list.flatMap((agent, index) => [
      { path: ["agents", "list", index, "model"], references: [agent.model] },
      { path: ["agents", "list", index, "fallbacks"], references: agent.fallbacks ?? [] },
    ]),
  ];
  return named.flatMap(({ path, references }) =>
    references.flatMap((reference): Problem[] => {
      if (reference === undefined) return [];
      const resolution = models.resolve(reference);
      if (!resolution.ok) {
        const users = agents.all.filter((agent) => agent.model === reference).map(({ id }) => id);
        const { problem } = resolution;
        return [
          loaded.problem(path, {
            severity: "error",
            message: describeProblem(problem),
            remedy: getRemedy(problem, loaded),
            disables: users.length > 0 ? `${reference} for ${users.join(", ")}` : undefined,
          }),
        ];
      }
      return resolution.warnings.map(({ message }) =>
        loaded.problem(path, {
          severity: "warning",
          message: message.replace(/\.+$/, ""),
          remedy: offered.includes(reference)
            ? "Its `contextWindow` is enough."
            : `${didYouMean(reference, offered)}Check the spelling, or state the model's limits.`,
        }),
      );
    }),
  );
}
