import { setTimeout as delay } from "node:timers/promises";
import type { Model, StreamModel } from "@signalbox/agent-core";
import { failure } from "../failure/failure.ts";
import type { FetchLike, ProviderConfig, Providers } from "../provider/provider.ts";
import { withoutUndefined } from "../shared/json.ts";
import { withTextTools } from "../text-tools/stream.ts";
import { failedTurn, SILENCE_MS } from "../turn/turn.ts";
import { type Cooldowns, KeyRing, type KeyState } from "./keys.ts";
import { AttemptPlan, type Candidate, type RetryPolicy } from "./plan.ts";
import { runAttempts, type Sleep } from "./run.ts";

/** One account on one server. */
export interface Account extends Pick<ProviderConfig, "baseUrl" | "headers" | "timeouts"> {
  /** The name by which models refer to the account in `provider`, for instance `anthropic`. */
  readonly name: string;
  /** The wire format, for instance `anthropic-messages`. */
  readonly api: string;
  /** Keys to try in order. Empty if the server needs none. */
  readonly keys: readonly string[];
  /** Sends the requests of this account. Default: the runner's `fetch`. */
  readonly fetch?: FetchLike;
}

export interface RunnerOptions {
  readonly providers: Providers;
  readonly accounts: readonly Account[];
  readonly retry?: Partial<RetryPolicy>;
  readonly cooldowns?: Partial<Cooldowns>;
  /** Replaces the providers' own `fetch`. */
  readonly fetch?: FetchLike;
  /** Returns the current time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). Default: `Math.random`. */
  readonly random?: () => number;
  /** Default: a timer. */
  readonly sleep?: Sleep;
  /** Removes additional secrets from vendors' messages. Keys and header values of accounts are always removed. */
  readonly redact?: (text: string) => string;
}

/** One `StreamModel` for all accounts, with retries, key rotation and fallback models. */
export interface ModelRunner {
  /** The stream without fallbacks. */
  readonly stream: StreamModel;
  /** Returns a stream that tries these models in order if the requested one fails. */
  withFallbacks(models: readonly Model[]): StreamModel;
  /** The keys of all accounts, including their cooldowns. */
  keys(): readonly KeyState[];
}

const RETRY: RetryPolicy = {
  retries: 2,
  maxAttempts: 24,
  baseDelayMs: 500,
  maxDelayMs: 8_000,
  maxRetryAfterMs: 30_000,
  silenceMs: SILENCE_MS,
};

const sleepFor: Sleep = (ms, signal) => delay(ms, undefined, { signal });

/** For models without native tool calls: describes the tools in the prompt, or removes them. */
function withToolSupport(stream: StreamModel, now: () => number): StreamModel {
  const text = withTextTools(stream, now);
  return (model, context, options) => {
    if (model.tools === "text") return text(model, context, options);
    const asked = model.tools === "none" ? { ...context, tools: [] } : context;
    return stream(model, asked, options);
  };
}

/** Minimum length of a secret. Shorter values may be words that occur by chance. */
const MIN_SECRET_LENGTH = 6;

/** Creates a function that removes keys and header values from vendors' messages. */
function createRedactor({ accounts, redact: more = (text) => text }: RunnerOptions) {
  const secrets = accounts
    .flatMap(({ keys, headers = {} }) => [...keys, ...Object.values(headers)])
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .toSorted((a, b) => b.length - a.length);
  return (text: string): string =>
    more(secrets.reduce((message, secret) => message.replaceAll(secret, "[redacted]"), text));
}

/**
 * Creates the stream for all accounts.
 *
 * @throws TypeError if an account has a wire format without a provider, or if two accounts have the same name
 */
export function createModelRunner(options: RunnerOptions): ModelRunner {
  const { now = Date.now, random = Math.random, sleep = sleepFor } = options;
  const policy: RetryPolicy = { ...RETRY, ...options.retry };
  const redact = createRedactor(options);
  const accounts = new Map<string, Omit<Candidate, "model">>();
  for (const account of options.accounts) {
    if (accounts.has(account.name)) throw new TypeError(`Two accounts have the name "${account.name}".`);
    const ring = createKeyRing(account, options, now);
    accounts.set(account.name, { ring, ownTimeouts: account.timeouts !== undefined });
  }

  const withFallbacks: ModelRunner["withFallbacks"] =
    (fallbacks) =>
    (model, context, asked = {}) => {
      const [first, ...others] = [model, ...fallbacks].flatMap((model) => {
        const account = accounts.get(model.provider);
        return account === undefined ? [] : [{ model, ...account }];
      });
      if (first === undefined) {
        const wanted = [model, ...fallbacks].map(({ provider, id }) => `${provider}/${id}`).join(", ");
        return failedTurn({ model, now }, failure("invalid", `No account is configured for ${wanted}.`));
      }
      const limits = { ...policy, silenceMs: asked.silenceMs ?? policy.silenceMs };
      return runAttempts({
        plan: new AttemptPlan([first, ...others], limits, random),
        open: ({ model, key }, silenceMs) =>
          key.stream()(model, context, { ...asked, ...withoutUndefined({ silenceMs }) }),
        context,
        options: asked,
        now,
        sleep,
        redact,
      });
    };

  return {
    stream: withFallbacks([]),
    withFallbacks,
    keys: () => [...accounts.values()].flatMap(({ ring }) => ring.states(now())),
  };
}

/** @throws TypeError if no provider implements the account's wire format */
function createKeyRing(account: Account, options: RunnerOptions, now: () => number): KeyRing {
  const { name, api, keys, baseUrl, headers, timeouts, fetch = options.fetch } = account;
  const provider = options.providers.get(api);
  if (provider === undefined)
    throw new TypeError(`No provider speaks the wire format "${api}" of account "${name}".`);
  const shared = withoutUndefined({ baseUrl, headers, timeouts, fetch });
  const connect = (apiKey: string | undefined): StreamModel =>
    withToolSupport(provider.connect({ now, ...shared, ...withoutUndefined({ apiKey }) }), now);
  return new KeyRing(name, keys, connect, options.cooldowns);
}
