import { isIP } from "node:net";

/** Names under which a gateway on the loopback interface may be addressed, besides addresses. */
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Whether a request was meant for this gateway and, where a browser sent it, comes from the gateway's own page: guards
 * against DNS rebinding (`Host`) and cross-site requests (`Origin`).
 */
export function sameOrigin(
  headers: { host?: string | undefined; origin?: string | undefined },
  allowedHosts: ReadonlySet<string>,
): boolean {
  const name = hostname(headers.host);
  if (name === undefined || !(LOOPBACK.has(name) || allowedHosts.has(name) || isAddress(name))) return false;
  if (headers.origin === undefined) return true;
  return sameHost(headers.origin, headers.host);
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
