import { BlockList, isIP } from "node:net";
import type { ExternalIdentity } from "./external-people.ts";
import { isSameSecret } from "./secrets.ts";
import type { ProxySettings } from "./sign-in-settings.ts";

/** Request headers with lower-case names. A list contains each value of a repeated header. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Header with `gateway.auth.proxy.secret`. */
const SECRET_HEADER = "signalbox-proxy-secret";

/** Default header names (documentation of oauth2-proxy, "Headers", and of Authelia, "Trusted Headers"). */
const HEADERS = {
  "oauth2-proxy": { user: "x-forwarded-user", groups: "x-forwarded-groups" },
  authelia: { user: "remote-user", groups: "remote-groups" },
} as const;

/**
 * Returns the person whom a trusted proxy names in the headers of a request. Returns undefined if the request comes
 * from another address, or without the proxy's secret.
 *
 * @param remote address of the peer of the TCP connection
 * @param now milliseconds since the epoch
 */
export function readProxyIdentity(
  { headers, remote }: { readonly headers: RequestHeaders; readonly remote: string },
  settings: ProxySettings,
  now: number,
): ExternalIdentity | undefined {
  if (!isTrusted(remote, settings.addresses)) return undefined;
  const { secret, type, userHeader, groupsHeader } = settings;
  if (secret !== undefined && !isSameSecret(readHeader(headers, SECRET_HEADER) ?? "", secret))
    return undefined;
  const user = readHeader(headers, userHeader ?? HEADERS[type].user);
  if (user === undefined) return undefined;
  const groups = (readHeader(headers, groupsHeader ?? HEADERS[type].groups) ?? "")
    .split(",")
    .map((group) => group.trim())
    .filter((group) => group !== "");
  return { kind: "proxy", issuer: "", subject: user, username: user, groups, asOf: now };
}

/** Reads a header. Returns undefined if it is empty or repeated. */
export function readHeader(headers: RequestHeaders, name: string): string | undefined {
  const values = headers[name.toLowerCase()];
  const value = Array.isArray(values) && values.length === 1 ? values[0] : values;
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function isTrusted(remote: string, addresses: readonly string[]): boolean {
  // A socket that accepts IPv6 and IPv4 reports IPv4 addresses in this form.
  const address = remote.replace(/^::ffff:(?=\d+\.)/i, "");
  const family = isIP(address);
  if (family === 0) return false;
  const trusted = new BlockList();
  for (const entry of addresses) {
    const [network = "", prefix] = entry.split("/");
    const kind = isIP(network) === 6 ? "ipv6" : "ipv4";
    if (prefix === undefined) trusted.addAddress(network, kind);
    else trusted.addSubnet(network, Number(prefix), kind);
  }
  return trusted.check(address, family === 6 ? "ipv6" : "ipv4");
}
