import { isIP, type LookupFunction } from "node:net";
import type { Agent } from "undici";
import { isPublicAddress } from "./address.ts";
import { FetchError } from "./errors.ts";
import { type Resolve, systemResolve } from "./resolve.ts";

/** Options of the check of hosts. */
export interface TargetOptions {
  /**
   * Hosts that may be reached although they are not public, as `host:port`, for example `127.0.0.1:8080` or
   * `wiki.internal:443`. An entry must match the host in the URL exactly. All addresses of such a host are accepted.
   * Default: none.
   */
  readonly allow?: readonly string[];
  /** Resolves a host name. Default: the system's resolver, with at most two concurrent lookups per process. */
  readonly resolve?: Resolve;
}

const MAX_URL_CHARS = 4_096;
/** Ports of other services that a crafted URL could address. Source: the Fetch standard's bad ports, above 1023. */
const BAD_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679,
  6697, 9100, 10080, 11211,
]);

/** The destination of one hop and the addresses of its host. */
export interface Target {
  readonly url: URL;
  readonly addresses: readonly string[];
}

/** Creates a function that resolves and checks the host of a URL. It throws FetchError if the host is not allowed. */
export function createTargetResolver(
  options: TargetOptions,
): (url: URL, signal: AbortSignal) => Promise<Target> {
  const { resolve = systemResolve } = options;
  const allow = new Set(options.allow?.map((host) => host.toLowerCase()));
  return async (url, signal) => {
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
}

/** @throws FetchError */
export function parseUrl(text: string, base?: URL): URL {
  const url = text.length <= MAX_URL_CHARS ? URL.parse(text, base) : null;
  if (url === null) throw new FetchError("bad_url", "That is not an address that can be fetched.");
  url.hash = "";
  return url;
}

/** Creates a connection pool that is bound to the checked addresses of one host. The caller destroys it. */
export async function createPinnedAgent({ url, addresses }: Target): Promise<Agent> {
  const { Agent, buildConnector } = await import("undici");
  const connect = buildConnector({ lookup: createPinnedLookup(addresses) });
  return new Agent({
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

export function toFetchError(error: unknown, url: URL): FetchError {
  if (error instanceof FetchError) return error;
  return new FetchError("network", `${url.host} could not be reached, or the connection was lost.`, {
    cause: error,
  });
}
