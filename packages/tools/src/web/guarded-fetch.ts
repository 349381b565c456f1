import type { Readable } from "node:stream";
import { readBody } from "./body.ts";
import { FetchError } from "./errors.ts";
import {
  createPinnedAgent,
  createTargetResolver,
  parseUrl,
  type Target,
  type TargetOptions,
  toFetchError,
} from "./guarded-target.ts";

export interface GuardedFetchOptions extends TargetOptions {
  /** Maximum size of the decompressed body, in bytes. Default: 5,000,000. */
  readonly maxBytes?: number;
  /** Time limit in milliseconds, including redirects. Default: 15,000. */
  readonly timeoutMs?: number;
  /** Maximum number of redirects. Default: 5. */
  readonly maxRedirects?: number;
  /** Value of the `user-agent` header. Default: `Signalbox`. */
  readonly userAgent?: string;
}

interface FetchCallOptions {
  readonly signal?: AbortSignal;
  /** Request headers, which are only sent to the origin of the URL. Removed after a redirect to another origin. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Maximum size of the body, in bytes. It can only lower the limit from `GuardedFetchOptions`. */
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
}

/** A successful response. */
export interface FetchedResource {
  /** The URL after all redirects. */
  readonly url: string;
  readonly bytes: Uint8Array;
  /** The `content-type` header as received, or an empty string. */
  readonly contentType: string;
  /** End of the request's time limit, on the clock of `performance.now()`. The same deadline applies to parsing. */
  readonly deadline?: number;
}

/**
 * Fetches a resource with GET, but only from public hosts.
 *
 * @throws FetchError, or the signal's reason if it is aborted
 */
export type GuardedFetch = (url: string, options?: FetchCallOptions) => Promise<FetchedResource>;

/**
 * Creates a fetch that connects only to public hosts, also after redirects and if the DNS record changes between check
 * and connection.
 *
 * @example
 * const fetchPage = createGuardedFetch(); const { contentType, bytes } = await fetchPage("https://example.com/", {
 * signal: AbortSignal.timeout(15_000) });
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const { maxBytes = 5_000_000, timeoutMs = 15_000, maxRedirects = 5, userAgent = "Signalbox" } = options;
  const resolveTarget = createTargetResolver(options);

  return async (input, call = {}) => {
    const limitMs = Math.min(call.timeoutMs ?? timeoutMs, timeoutMs);
    const deadline = performance.now() + limitMs;
    const limit = AbortSignal.timeout(limitMs);
    const signal = call.signal === undefined ? limit : AbortSignal.any([call.signal, limit]);
    const byteLimit = Math.min(call.maxBytes ?? maxBytes, maxBytes);
    let url = parseUrl(input);
    let headers = call.headers ?? {};
    try {
      for (let hop = 0; ; hop++) {
        const target = await resolveTarget(url, signal);
        // `deflate` is omitted, because servers use this name for two different formats.
        const own = { "user-agent": userAgent, "accept-encoding": "gzip, br" };
        const answer = await get(target, { ...headers, ...own }, byteLimit, signal);
        if (!("location" in answer)) return { ...answer, deadline };
        if (hop >= maxRedirects) throw new FetchError("redirects", `More than ${maxRedirects} redirects.`);
        const next = parseUrl(answer.location, url);
        if (next.origin !== url.origin) headers = {};
        url = next;
      }
    } catch (error) {
      call.signal?.throwIfAborted();
      if (limit.aborted && !(error instanceof FetchError))
        throw new FetchError("timeout", `${url.host} took too long.`, { cause: error });
      throw toFetchError(error, url);
    }
  };
}

type HopResult = FetchedResource | { readonly location: string };

async function get(
  target: Target,
  headers: Readonly<Record<string, string>>,
  maxBytes: number,
  signal: AbortSignal,
): Promise<HopResult> {
  const { url } = target;
  const { request } = await import("undici");
  const agent = await createPinnedAgent(target);
  try {
    const response = await request(url, { dispatcher: agent, headers, signal });
    const body: Readable = response.body;
    const { statusCode } = response;
    if ([301, 302, 303, 307, 308].includes(statusCode)) {
      const location = firstValue(response.headers["location"]);
      if (location === undefined)
        throw new FetchError("redirects", `${url.host} sent a redirect without a target.`);
      return { location };
    }
    if (statusCode < 200 || statusCode > 299)
      throw new FetchError("status", `${url.host} responded with status ${statusCode}.`);
    const encoding = firstValue(response.headers["content-encoding"]);
    return {
      url: url.href,
      bytes: await readBody(body, encoding, maxBytes),
      contentType: firstValue(response.headers["content-type"]) ?? "",
    };
  } finally {
    await agent.destroy();
  }
}

function firstValue(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
