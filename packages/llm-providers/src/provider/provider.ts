import type { StreamModel } from "@signalbox/agent-core";

/** `fetch` as a host gives it and as the vendors' SDKs take it. */
export type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * How long a vendor may be silent; by default 55,000, or a request's `silenceMs`. Any byte on the wire, even a
 * keep-alive, is a sign of life. Set more for a server of your own that is silent while it loads a model, or thinks.
 */
export interface Timeouts {
  /** Milliseconds from the request to the first byte of the answer. */
  readonly firstByteMs?: number;
  /** Milliseconds between two pieces of the answer, keep-alives included. */
  readonly idleMs?: number;
}

/** What a provider needs to reach its vendor: one account on one server. */
export interface ProviderConfig {
  /** Absent if the server needs none (a local one). */
  readonly apiKey?: string;
  /** Default: the vendor's public address. */
  readonly baseUrl?: string;
  /** Sent with every request, after the vendor's own headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the built-in transport (undici with kept connections). */
  readonly fetch?: FetchLike;
  readonly timeouts?: Timeouts;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
}

/**
 * Behaviour for one wire format. Importing a provider is cheap: the vendor's SDK is imported at the first request.
 * `defineProvider` makes one over HTTP; anything else that keeps this contract also works.
 */
export interface Provider {
  /** Names the wire format, for instance `anthropic-messages`; a model names it in `api`. */
  readonly api: string;
  /** npm packages to install with this one: the vendor's SDK. Default none. */
  readonly requires?: readonly string[];
  /** One client for one account, to be kept: its connections are reused. */
  connect(config: ProviderConfig): StreamModel;
  /**
   * Imports in advance what the first request would have to wait for. Where `at` is given, the address of a server of
   * the host's own, it also asks that for an answer, which it refuses: then the way of a request is compiled.
   */
  load?(at?: string): Promise<void>;
}

/** The providers a host offers, by wire format. */
export type Providers = ReadonlyMap<string, Provider>;

/** Collects providers by wire format. @throws TypeError when two claim the same one. */
export function createProviders(providers: readonly Provider[]): Providers {
  const byApi = new Map(providers.map((provider) => [provider.api, provider]));
  const other = providers.find((provider) => byApi.get(provider.api) !== provider);
  if (other !== undefined) throw new TypeError(`Two providers for the wire format "${other.api}"`);
  return byApi;
}
