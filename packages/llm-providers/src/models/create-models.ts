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
import { failedTurn } from "../turn/turn.ts";
import {
  accountOf,
  type Environment,
  type ModelProblem,
  missingKey,
  type ProviderEntries,
} from "./accounts.ts";
import { type Answer, type AnswerStream, answerStream } from "./answer.ts";

/** Retries, rests of keys, clocks, `fetch` and `redact` are the runner's. */
export interface ModelsOptions extends Omit<RunnerOptions, "providers" | "accounts"> {
  /** Where to look for the keys of well-known providers without one, by their usual names; nowhere by default. */
  readonly env?: Environment;
  /** Further wire formats. */
  readonly providers?: readonly Provider[];
  /** Providers that are off whatever `env` holds, for instance since their configuration could not be read. */
  readonly disabled?: readonly string[];
}

/** A prompt: a text, a conversation, or everything that a model can be given. */
export type Prompt =
  | string
  | readonly Message[]
  | {
      readonly system?: string | SystemPrompt;
      readonly messages: readonly Message[];
      readonly tools?: readonly ToolSpec[];
    };

export interface ResolveOptions {
  /** Tried in this order if the model cannot answer; unusable ones are left out. */
  readonly fallbacks?: readonly string[];
  /** Refuses an id that is not among its provider's known models: it is probably a typing error. */
  readonly strict?: boolean;
}

/** A usable reference, or what is missing. */
export type Resolution =
  | {
      readonly ok: true;
      readonly model: Model;
      /** The stream, with the fallbacks. */
      readonly stream: StreamModel;
      /** For instance that the id is unknown, and which defaults are used. */
      readonly warnings: readonly Warning[];
    }
  | { readonly ok: false; readonly problem: ModelProblem };

/** Every model that can be reached. */
export interface Models {
  /** Providers that are off, and why. */
  readonly problems: readonly ModelProblem[];
  /** The names of the usable providers, without the offline demo model. */
  readonly providers: readonly string[];
  /** The model to use by default: a good one of the first provider; `demo/demo` if there is none. */
  readonly defaultReference: string;
  /** The models that can be chosen by name. */
  list(): readonly Model[];
  /** A model by `provider/id`, or by an id alone, with its stream. */
  resolve(reference: string, options?: ResolveOptions): Resolution;
  /** Asks a model and yields the events as they come; `.result()` returns the answer, or the error. */
  stream(reference: string, prompt: Prompt, options?: StreamOptions & ResolveOptions): AnswerStream;
  /** Asks a model and waits for its answer. */
  complete(reference: string, prompt: Prompt, options?: StreamOptions & ResolveOptions): Promise<Answer>;
  /** The npm packages that a provider's SDK comes in; they have to be installed. */
  requires(provider: string): readonly string[];
  /** Every provider's keys, and which of them are resting. */
  keys(): readonly KeyState[];
  /** Imports the SDKs of the usable providers. Rejects with the first failure after the others are imported. */
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
 * The models of several providers behind one interface, with catalogue, retries, several keys and fallbacks.
 * @throws TypeError if two of `providers` claim one wire format
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
      const message = `There is no provider "${provider}" for the model "${reference}".`;
      return { code: "unknown_provider", provider, message };
    }
    if (!everyAccount.some(({ name }) => name === provider)) return missingKey(provider, env);
    if (strict && resolved.warnings.length > 0 && listed.some((model) => model.provider === provider)) {
      const message = `The provider "${provider}" has no model "${resolved.model.id}".`;
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
    if (!asked.ok) return answerStream(refusing(reference, asked.problem, now));
    return answerStream(asked.stream(asked.model, contextOf(prompt, now), rest));
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

/** The usable accounts: the configured ones, and those with a key in the environment. */
function openAccounts(
  entries: ProviderEntries,
  disabled: readonly string[],
  providers: Providers,
  env: Environment | undefined,
): { readonly accounts: readonly Account[]; readonly problems: readonly ModelProblem[] } {
  const problems: ModelProblem[] = disabled.map((provider) => ({
    code: "invalid_provider",
    provider,
    message: `The provider "${provider}" is off: its configuration is broken.`,
  }));
  const configured = Object.keys(entries);
  const accounts: Account[] = [];
  for (const name of new Set([...configured, ...defaultAccounts.map((account) => account.name)])) {
    if (disabled.includes(name) || (name === DEMO.name && !configured.includes(name))) continue;
    const result = accountOf(name, entries[name] ?? {}, providers, env);
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

function refusing(reference: string, { code, provider, message }: ModelProblem, now: () => number) {
  const model = { ...demoModel, id: reference.slice(reference.indexOf("/") + 1), provider, api: "none" };
  return failedTurn({ model, now }, failure(code === "missing_key" ? "auth" : "invalid", message));
}

function contextOf(prompt: Prompt, now: () => number): ModelContext {
  if (typeof prompt === "string")
    return contextOf([{ role: "user", content: prompt, timestamp: now() }], now);
  const { system = "", messages, tools = [] } = "messages" in prompt ? prompt : { messages: prompt };
  return { system: typeof system === "string" ? { stable: system } : system, messages, tools };
}
