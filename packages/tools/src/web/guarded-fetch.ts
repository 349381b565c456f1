import { isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { isPublicAddress } from "./address.ts";
import { readBody } from "./body.ts";
import { FetchError } from "./errors.ts";
import { type Resolve, systemResolve } from "./resolve.ts";

export interface GuardedFetchOptions {
  /**
   * Hosts that may be reached although they are not public, as `host:port`, for example `127.0.0.1:8080` or
   * `wiki.internal:443`. An entry must match the host in the URL exactly. All addresses of such a host are accepted.
   * Default: none.
   */
  readonly allow?: readonly string[];
  /** Resolves a host name. Default: the system's resolver, with at most two concurrent lookups per process. */
  readonly resolve?: Resolve;
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

const MAX_URL_CHARS = 4_096;
/** Ports of other services that a crafted URL could address. Source: the Fetch standard's bad ports, above 1023. */
const BAD_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679,
  6697, 9100, 10080, 11211,
]);

/** The destination of one hop and the addresses of its host. */
interface Target {
  readonly url: URL;
  readonly addresses: readonly string[];
}

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
  const { resolve = systemResolve } = options;
  const allow = new Set(options.allow?.map((host) => host.toLowerCase()));

  const resolveTarget = async (url: URL, signal: AbortSignal): Promise<Target> => {
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw new FetchError("bad_url", "Only http and https addresses can be fetched.");
    if (url.username !== "" || url.password !== "")
      throw new FetchError("bad_url", "Addresses with a user name or password are not fetched.");
    const port = url.port === "" ? (url.protocol === "http:" ? 80 : 443) : Number(url.port);
    const allowed = allow.has(`${url.hostname}:${port}`);
    if (!allowed && ((port < 1024 && port !== 80 && port !== 443) || BAD_PORTS.has(port)))
      throw new FetchError("blocked", `Fetching from port ${port} is not allowed.`);
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const addresses =
      isIP(host) === 0 ? await makeAbortable(signal, () => resolve(host, signal), host) : [host];
    if (addresses.length === 0) throw createNotFoundError(host);
    // A host is refused if any of its addresses is not public, because a mix of public and other addresses suggests DNS
    // rebinding.
    if (!allowed && !addresses.every(isPublicAddress))
      throw new FetchError("blocked", `${url.hostname} is not a host on the public internet.`);
    return { url, addresses };
  };

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

function parseUrl(text: string, base?: URL): URL {
  const url = text.length <= MAX_URL_CHARS ? URL.parse(text, base) : null;
  if (url === null) throw new FetchError("bad_url", "That is not an address that can be fetched.");
  url.hash = "";
  return url;
}

type HopResult = FetchedResource | { readonly location: string };

async function get(
  { url, addresses }: Target,
  headers: Readonly<Record<string, string>>,
  maxBytes: number,
  signal: AbortSignal,
): Promise<HopResult> {
  const { Agent, buildConnector, request } = await import("undici");
  const connect = buildConnector({ lookup: createPinnedLookup(addresses) });
  const agent = new Agent({
    connect: (target, callback) => {
      connect(target, (...outcome) => {
        const [error, socket] = outcome;
        if (error !== null) return callback(error, null);
        // The lookup already returns only checked addresses. This verifies that the connection actually uses one of
        // them.
        if (addresses.includes(socket.remoteAddress ?? "")) return callback(null, socket);
        socket.destroy();
        callback(new FetchError("blocked", `${url.hostname} is not a host on the public internet.`), null);
      });
    },
  });
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
    // The agent is bound to the checked addresses of one host.
    await agent.destroy();
  }
}

/** Returns a lookup function that always returns the checked addresses. */
function createPinnedLookup(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first] = entries;
  return (_host, { all }, callback) => {
    if (all === true) callback(null, entries);
    else callback(null, first?.address ?? "", first?.family);
  };
}

function firstValue(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** Makes a lookup abortable. Resolvers do not accept a signal. */
async function makeAbortable(
  signal: AbortSignal,
  work: () => Promise<readonly string[]>,
  host: string,
): Promise<readonly string[]> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([
      work().catch((cause: unknown) => {
        signal.throwIfAborted();
        throw createNotFoundError(host, cause);
      }),
      aborted.promise,
    ]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function createNotFoundError(host: string, cause?: unknown): FetchError {
  return new FetchError("network", `The host ${host} was not found.`, { cause });
}

function toFetchError(error: unknown, url: URL): FetchError {
  if (error instanceof FetchError) return error;
  return new FetchError("network", `${url.host} could not be reached, or the connection was lost.`, {
    cause: error,
  });
}
