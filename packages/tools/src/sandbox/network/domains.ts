import { isIP } from "node:net";

/** The destination of a command's connection. */
export interface Target {
  /** In lower case, without brackets or a trailing dot. */
  readonly host: string;
  readonly port: number;
}

const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);

/**
 * Returns true if a list contains a host. `example.org` matches only that host, and `*.example.org` matches all of its
 * subdomains. `example.org:8443` allows only that port. Without a port, 80 and 443 are allowed.
 */
export function isListed(domains: readonly string[], { host, port }: Target): boolean {
  return domains.some((entry) => {
    const [name = "", wantedPort] = entry.toLowerCase().split(":");
    if (wantedPort === undefined ? !WEB_PORTS.has(port) : port !== Number(wantedPort)) return false;
    return name.startsWith("*.") ? isIP(host) === 0 && host.endsWith(name.slice(1)) : host === name;
  });
}

/** Parses the `host:port` of a `CONNECT` request. */
export function parseAuthority(text: string): Target | undefined {
  const [, host = "", port = ""] = /^(\[[0-9a-f:.]+\]|[^\s:@/?#]+):(\d{1,5})$/i.exec(text) ?? [];
  return host === "" ? undefined : toTarget(host, Number(port));
}

/** Parses the absolute URL of a proxy request. Returns undefined for protocols other than `http:`. */
export function parseProxyUrl(text: string): (Target & { readonly url: URL }) | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== "http:" || url.username !== "" || url.password !== "") return undefined;
  return { ...toTarget(url.hostname, url.port === "" ? 80 : Number(url.port)), url };
}

function toTarget(host: string, port: number): Target {
  return {
    host: host
      .toLowerCase()
      .replace(/^\[|\]$/g, "")
      .replace(/\.$/, ""),
    port,
  };
}
