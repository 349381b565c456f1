import type { StreamModel } from "@signalbox/agent-core";

/** The signature of `fetch`. */
export type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * Limits for the silence of a vendor; by default 55,000 ms, or a request's `silenceMs`. Every byte counts, including
 * keep-alives. Raise these for a server of your own that is silent while it loads a model or thinks.
 */
export interface Timeouts {
  /** Milliseconds from the request to the first byte of the response. */
  readonly firstByteMs?: number;
  /** Milliseconds between two pieces of the response. */
  readonly idleMs?: number;
}

/** One account on one server. */
export interface ProviderConfig {
  /** Absent if the server needs none, as most local servers. */
  readonly apiKey?: string;
  /** Default: the vendor's public address. */
  readonly baseUrl?: string;
  /** Sent with every request. They override the vendor's own headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends the requests. Default: undici's `fetch` without timeouts. */
  readonly fetch?: FetchLike;
  readonly timeouts?: Timeouts;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
}

/**
 * Speaks one wire format. `defineProvider` creates one over HTTP; anything else that keeps this contract works too.
 * Importing a provider is cheap: the vendor's SDK is imported by the first request.
 */
export interface Provider {
  /** The wire format, for instance `anthropic-messages`. A model names it in `api`. */
  readonly api: string;
  /** The npm packages to install with this one, usually the vendor's SDK. Default: none. */
  readonly requires?: readonly string[];
  /** Returns the models of one account. Keep the result: it holds what was learned about the server. */
  connect(config: ProviderConfig): StreamModel;
  /** Imports the vendor's SDK before the first request needs it. */
  load?(): Promise<void>;
}

/** Providers by wire format. */
export type Providers = ReadonlyMap<string, Provider>;

/**
 * Indexes providers by wire format.
 * @throws TypeError if two providers have the same wire format.
 */
export function createProviders(providers: readonly Provider[]): Providers {
  const byApi = new Map(providers.map((provider) => [provider.api, provider]));
  const other = providers.find((provider) => byApi.get(provider.api) !== provider);
  if (other !== undefined) throw new TypeError(`Two providers have the wire format "${other.api}".`);
  return byApi;
}
