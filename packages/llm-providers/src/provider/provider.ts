import type { StreamModel } from "@signalbox/agent-core";

/** The signature of `fetch`. */
export type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * Limits for the silence of a vendor. By default 55,000 ms, or the `silenceMs` of a request. Every byte counts,
 * including keep-alives. Raise these for your own server if it is silent while it loads a model or thinks.
 */
export interface Timeouts {
  /** Milliseconds from the request until the first byte of the response. */
  readonly firstByteMs?: number;
  /** Milliseconds between two chunks of the response. */
  readonly idleMs?: number;
}

/** One account on a server. */
export interface ProviderConfig {
  /** Absent if the server needs none, like most local servers. */
  readonly apiKey?: string;
  /** Default: the vendor's public URL. */
  readonly baseUrl?: string;
  /** Headers of every request. They override the vendor's own headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends the requests. Default: undici's `fetch` without timeouts. */
  readonly fetch?: FetchLike;
  readonly timeouts?: Timeouts;
  /** Returns the current time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/**
 * Implements one wire format. `defineProvider` creates a provider over HTTP, but any other implementation of this
 * contract works too. Importing a provider is cheap, because the vendor's SDK is imported with the first request.
 */
export interface Provider {
  /** The wire format, for instance `anthropic-messages`. Models refer to it in `api`. */
  readonly api: string;
  /** The npm packages to install with this one, usually the vendor's SDK. Default: none. */
  readonly requires?: readonly string[];
  /**
   * Returns a stream for the models of one account. Keep the result, because it contains the lessons about the server.
   */
  connect(config: ProviderConfig): StreamModel;
  /** Imports the vendor's SDK before the first request. */
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
