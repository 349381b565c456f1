import { isIP } from "node:net";

/** Where a command wants to go. */
export interface Target {
  /** In lower case, without brackets or a dot at its end. */
  readonly host: string;
  readonly port: number;
}

const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);

/**
 * Whether a list names a host: `example.org` that host alone, `*.example.org` all below it; with `:8443` behind it that
 * port alone, without one those of the web.
 */
export function isListed(domains: readonly string[], { host, port }: Target): boolean {
  return domains.some((entry) => {
    const [name = "", wantedPort] = entry.toLowerCase().split(":");
    if (wantedPort === undefined ? !WEB_PORTS.has(port) : port !== Number(wantedPort)) return false;
    return name.startsWith("*.") ? isIP(host) === 0 && host.endsWith(name.slice(1)) : host === name;
  });
}

/** `host:port` of a request to connect. */
export function readAuthority(text: string): Target | undefined {
  const [, host = "", port = ""] = /^(\[[0-9a-f:.]+\]|[^\s:@/?#]+):(\d{1,5})$/i.exec(text) ?? [];
  return host === "" ? undefined : targetOf(host, Number(port));
}

/** The host and port that a whole address names; none for other protocols than `http:`. */
export function readAddress(text: string): (Target & { readonly url: URL }) | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== "http:" || url.username !== "" || url.password !== "") return undefined;
  return { ...targetOf(url.hostname, url.port === "" ? 80 : Number(url.port)), url };
}

function targetOf(host: string, port: number): Target {
  return {
    host: host
      .toLowerCase()
      .replace(/^\[|\]$/g, "")
      .replace(/\.$/, ""),
    port,
  };
}
