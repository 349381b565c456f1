import type {
  Message,
  Model,
  ModelContext,
  StreamModel,
  StreamOptions,
  SystemPrompt,
  ToolSpec,
  Warning,
} from "@signalbox/agent-core";
import { anthropicMessages } from "../anthropic/index.ts";
import { createCatalogue, defaultAccounts, type ResolvedModel } from "../catalogue/catalogue.ts";
import { VENDORS } from "../catalogue/table.ts";
import { demo, demoModel } from "../demo/index.ts";
import { failure } from "../failure/failure.ts";
import { googleGenerative } from "../google/index.ts";
import { mistralChat } from "../mistral/index.ts";
import { openaiChat } from "../openai-chat/index.ts";
import { openaiResponses } from "../openai-responses/index.ts";
import { createProviders, type Provider, type Providers } from "../provider/provider.ts";
import type { KeyState } from "../runner/keys.ts";
import { type Account, createModelRunner, type RunnerOptions } from "../runner/runner.ts";
import { didYouMean } from "../shared/suggest.ts";
import { failedTurn } from "../turn/turn.ts";
import {
  createAccount,
  type Environment,
  type ModelProblem,
  missingKey,
  type ProviderEntries,
} from "./accounts.ts";
import { type Answer, type AnswerStream, answerStream } from "./answer.ts";

/** Other options configure retries, key cooldowns, the clock, `fetch` and `redact`. */
export interface ModelsOptions extends Omit<RunnerOptions, "providers" | "accounts"> {
  /** Environment variables with the keys of well-known providers, for instance `process.env`. Default: none. */
  readonly env?: Environment;
  /** Additional wire formats. */
  readonly providers?: readonly Provider[];
  /** Providers that are disabled regardless of `env`, for instance because their configuration is invalid. */
  readonly disabled?: readonly string[];
}

/** A text, a list of messages, or a complete request. */
export type Prompt =
  | string
  | readonly Message[]
  | {
      readonly system?: string | SystemPrompt;
      readonly messages: readonly Message[];
      readonly tools?: readonly ToolSpec[];
    };

export interface ResolveOptions {
  /** References of models to try in order if this one fails. Unusable ones are ignored. */
  readonly fallbacks?: readonly string[];
  /** Rejects an id that is not a known model of its provider. It is probably a typo. */
  readonly strict?: boolean;
}

/** A model and its stream, or the reason why there is none. */
export type Resolution =
  | {
      readonly ok: true;
      readonly model: Model;
      /** The stream, including the fallbacks. */
      readonly stream: StreamModel;
      /** Warns for instance that the id is unknown and which defaults are used. */
      readonly warnings: readonly Warning[];
    }
  | { readonly ok: false; readonly problem: ModelProblem };

/** The models of all configured providers. */
export interface Models {
  /** The disabled providers and the reasons. */
  readonly problems: readonly ModelProblem[];
  /** The names of the usable providers, not including the demo model. */
  readonly providers: readonly string[];
  /** A good model of the first provider, or `demo/demo` if there is no provider. */
  readonly defaultReference: string;
  /** The models that can be chosen by name. */
  list(): readonly Model[];
  /** Finds a model by `provider/id`, or by its id alone, and returns it with its stream. */
  resolve(reference: string, options?: ResolveOptions): Resolution;
  /** Sends a request and yields the events as they arrive. `.result()` returns the answer. */
  stream(reference: string, prompt: Prompt, options?: StreamOptions & ResolveOptions): AnswerStream;
  /** Sends a request and resolves with the answer. */
  complete(reference: string, prompt: Prompt, options?: StreamOptions & ResolveOptions): Promise<Answer>;
  /** The npm packages that a provider needs, usually the vendor's SDK. */
  requires(provider: string): readonly string[];
  /** The keys of all providers, including their cooldowns. */
  keys(): readonly KeyState[];
  /** Imports the SDKs of the usable providers. Rejects with the first failure after all other imports have finished. */
  load(): Promise<void>;
}

const PROVIDERS: readonly Provider[] = [
  anthropicMessages,
  openaiResponses,
  openaiChat,
  mistralChat,
  googleGenerative,
  demo,
];

const DEMO: Account = { name: demoModel.provider, api: demoModel.api, keys: [] };

/**
 * Creates the models of several providers, with retries, key rotation and fallbacks.
 * @throws TypeError if two of `options.providers` have the same wire format
 * @example
 * const models = createModels({ anthropic: { apiKey: process.env.ANTHROPIC_API_KEY } });
 * const answer = await models.complete("anthropic/claude-sonnet-4-6", "Hello.");
 * console.log(answer.ok ? answer.text : answer.error.message);
 */
export function createModels(entries: ProviderEntries = {}, options: ModelsOptions = {}): Models {
  const { env, providers: more = [], disabled = [], ...runnerOptions } = options;
  const { now = Date.now } = options;
  const providers = createProviders([...PROVIDERS, ...more]);
  const { accounts, problems } = openAccounts(entries, disabled, providers, env);
  const everyAccount = accounts.some(({ name }) => name === DEMO.name) ? accounts : [...accounts, DEMO];
  const runner = createModelRunner({ ...runnerOptions, providers, accounts: everyAccount });
  const catalogue = createCatalogue(
    everyAccount.map(({ name, api }) => ({ name, api, models: entries[name]?.models ?? [] })),
  );
  const names = accounts.map(({ name }) => name);
  const listed = catalogue
    .list()
    .filter(({ provider }) => (names.length === 0 ? provider === DEMO.name : names.includes(provider)));

  function find(reference: string, strict = false): ResolvedModel | ModelProblem {
    const resolved = catalogue.resolve(reference);
    const provider = resolved?.model.provider ?? reference.split("/")[0] ?? "";
    const problem = problems.find((known) => known.provider === provider);
    if (problem !== undefined) return problem;
    if (resolved === undefined) {
      const known = [...everyAccount, ...defaultAccounts].map(({ name }) => name);
      const suggestion = didYouMean(provider, known) || ".";
      const message = `Unknown provider \`${provider}\` in model \`${reference}\`${suggestion}`;
      return { code: "unknown_provider", provider, message };
    }
    if (!everyAccount.some(({ name }) => name === provider)) return missingKey(provider, env);
    if (strict && resolved.warnings.length > 0 && listed.some((model) => model.provider === provider)) {
      const known = listed.filter((model) => model.provider === provider).map(({ id }) => id);
      const suggestion = didYouMean(resolved.model.id, known) || ".";
      const message = `Provider \`${provider}\` has no model \`${resolved.model.id}\`${suggestion}`;
      return { code: "unknown_model", provider, message };
    }
    return resolved;
  }

  function resolve(reference: string, { fallbacks = [], strict }: ResolveOptions = {}): Resolution {
    const asked = find(reference, strict);
    if ("code" in asked) return { ok: false, problem: asked };
    const others = fallbacks
      .map((other) => find(other))
      .flatMap((other) => ("model" in other ? other.model : []));
    return { ok: true, ...asked, stream: runner.withFallbacks(others) };
  }

  const stream: Models["stream"] = (reference, prompt, { fallbacks = [], strict = false, ...rest } = {}) => {
    const asked = resolve(reference, { fallbacks, strict });
    if (!asked.ok) return answerStream(createRefusedTurn(reference, asked.problem, now));
    return answerStream(asked.stream(asked.model, toContext(prompt, now), rest));
  };

  return {
    problems,
    providers: names,
    defaultReference: defaultReference(names, listed),
    list: () => listed,
    resolve,
    stream,
    complete: (reference, prompt, options) => stream(reference, prompt, options).result(),
    requires(provider) {
      const account = everyAccount.find(({ name }) => name === provider);
      return account === undefined ? [] : (providers.get(account.api)?.requires ?? []);
    },
    keys: () => runner.keys(),
    async load() {
      const apis = new Set(accounts.map(({ api }) => api));
      const results = await Promise.allSettled([...apis].map((api) => providers.get(api)?.load?.()));
      for (const result of results) if (result.status === "rejected") throw result.reason;
    },
  };
}

/** Returns the configured accounts, and accounts for the keys in the environment. */
function openAccounts(
  entries: ProviderEntries,
  disabled: readonly string[],
  providers: Providers,
  env: Environment | undefined,
): { readonly accounts: readonly Account[]; readonly problems: readonly ModelProblem[] } {
  const problems: ModelProblem[] = disabled.map((provider) => ({
    code: "invalid_provider",
    provider,
    message: `Provider \`${provider}\` is off because its configuration is invalid.`,
  }));
  const configured = Object.keys(entries);
  const accounts: Account[] = [];
  for (const name of new Set([...configured, ...defaultAccounts.map((account) => account.name)])) {
    if (disabled.includes(name) || (name === DEMO.name && !configured.includes(name))) continue;
    const result = createAccount(name, entries[name] ?? {}, providers, env);
    if (!("code" in result)) accounts.push(result);
    else if (configured.includes(name) || result.code !== "missing_key") problems.push(result);
  }
  return { accounts, problems };
}

function defaultReference(names: readonly string[], listed: readonly Model[]): string {
  const [vendor] = names.flatMap((name) => VENDORS.find(({ provider }) => provider === name) ?? []);
  if (vendor !== undefined) return `${vendor.provider}/${vendor.default}`;
  const { provider, id } = listed[0] ?? demoModel;
  return `${provider}/${id}`;
}

function createRefusedTurn(reference: string, { code, provider, message }: ModelProblem, now: () => number) {
  const model = { ...demoModel, id: reference.slice(reference.indexOf("/") + 1), provider, api: "none" };
  return failedTurn({ model, now }, failure(code === "missing_key" ? "auth" : "invalid", message));
}

function toContext(prompt: Prompt, now: () => number): ModelContext {
  if (typeof prompt === "string")
    return toContext([{ role: "user", content: prompt, timestamp: now() }], now);
  const { system = "", messages, tools = [] } = "messages" in prompt ? prompt : { messages: prompt };
  return { system: typeof system === "string" ? { stable: system } : system, messages, tools };
}
