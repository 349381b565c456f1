import { isIP } from "node:net";

/** Names under which a gateway on the loopback interface may be addressed, besides addresses. */
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Who sent a browser here, in the browser's own words (`Sec-Fetch-Site`): the page itself, or the address bar. */
const OWN_SITES = new Set(["same-origin", "none"]);

/** The headers that say where a request comes from and whom it is for. */
export interface OriginHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly "sec-fetch-site"?: string | readonly string[] | undefined;
}

/**
 * Whether a request was meant for this gateway and, where a browser sent it, comes from the gateway's own page: guards
 * against DNS rebinding (`Host`) and cross-site requests (`Origin`, `Sec-Fetch-Site`). Pages on other ports of the same
 * address are other sites here.
 */
export function isFromOwnPage(headers: OriginHeaders, allowedHosts: ReadonlySet<string>): boolean {
  const name = hostname(headers.host);
  if (name === undefined || !(LOOPBACK.has(name) || allowedHosts.has(name) || isAddress(name))) return false;
  const site = headers["sec-fetch-site"];
  if (site !== undefined && !OWN_SITES.has(String(site))) return false;
  return headers.origin === undefined || sameHost(headers.origin, headers.host);
}

/** What `sameOrigin` takes: the address listened on, and the configured names. */
export function hostsOf(host: string, configured: readonly string[]): ReadonlySet<string> {
  return new Set([host, `[${host}]`, ...configured].map((name) => name.toLowerCase()));
}

/** A port that is the scheme's own is not written; behind a proxy the page's scheme is not the gateway's. */
function sameHost(origin: string, host: string | undefined): boolean {
  try {
    const { protocol, host: theirs } = new URL(origin);
    return theirs !== "" && theirs === new URL(`${protocol}//${host}`).host;
  } catch {
    return false;
  }
}

/** An address cannot be rebound: only a name can be made to lead here by whoever owns it. */
function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;
}

function hostname(host: string | undefined): string | undefined {
  if (host === undefined) return undefined;
  try {
    return new URL(`http://${host}`).hostname;
  } catch {
    return undefined;
  }
}
