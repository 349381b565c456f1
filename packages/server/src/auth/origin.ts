import { isIP } from "node:net";

/** Host names that always reach this machine. IP addresses are accepted separately. */
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Values of `Sec-Fetch-Site` for requests from the gateway's own page and from the address bar. */
const OWN_SITES = new Set(["same-origin", "none"]);

/** The request headers that name the source and the target of a request. */
export interface OriginHeaders {
  readonly host?: string;
  readonly origin?: string;
  readonly "sec-fetch-site"?: string | readonly string[];
}

/**
 * Checks that a request targets this gateway and, if a browser sent it, comes from the gateway's own page. This guards
 * against DNS rebinding (`Host`) and cross-site requests (`Origin`, `Sec-Fetch-Site`). A page on another port of the
 * same host is another site here.
 */
export function isFromOwnPage(headers: OriginHeaders, allowedHosts: ReadonlySet<string>): boolean {
  const name = parseHostname(headers.host);
  if (name === undefined || !(LOOPBACK.has(name) || allowedHosts.has(name) || isAddress(name))) return false;
  const site = headers["sec-fetch-site"];
  if (site !== undefined && !OWN_SITES.has(String(site))) return false;
  return headers.origin === undefined || isSameHost(headers.origin, headers.host);
}

/** Returns the host names that {@link isFromOwnPage} accepts: the listen address and the configured names. */
export function createHostSet(host: string, configured: readonly string[]): ReadonlySet<string> {
  return new Set([host, `[${host}]`, ...configured].map((name) => name.toLowerCase()));
}

/**
 * Compares an origin with the `Host` header. Uses the origin's scheme for both, because browsers omit the scheme's
 * default port, and behind a proxy the page's scheme differs from the gateway's.
 */
function isSameHost(origin: string, host: string | undefined): boolean {
  try {
    const { protocol, host: originHost } = new URL(origin);
    return originHost !== "" && originHost === new URL(`${protocol}//${host}`).host;
  } catch {
    return false;
  }
}

/** An IP address is safe to accept: DNS rebinding needs a host name. */
function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;
}

function parseHostname(host: string | undefined): string | undefined {
  if (host === undefined) return undefined;
  try {
    return new URL(`http://${host}`).hostname;
  } catch {
    return undefined;
  }
}
