/**
 * The name has the port, since a browser keeps one jar for all ports of an address: two gateways do not overwrite each
 * other's sessions, and neither reads the other's. Over https the prefix `__Host-` keeps other hosts and plain http
 * from setting or getting it.
 */
function nameOf(port: number, secure: boolean): string {
  return `${secure ? "__Host-" : ""}signalbox-${port}`;
}

const ATTRIBUTES = "HttpOnly; SameSite=Strict; Path=/";

/** A `Set-Cookie` value; an empty one takes the cookie back. */
export function setCookie(
  { port, secure }: { readonly port: number; readonly secure: boolean },
  value: string,
  maxAgeMs: number,
): string {
  const flags = secure ? `Secure; ${ATTRIBUTES}` : ATTRIBUTES;
  return `${nameOf(port, secure)}=${value}; ${flags}; Max-Age=${Math.floor(maxAgeMs / 1000)}`;
}

/** The value of this gateway's cookie in a `Cookie` header. */
export function readCookie(header: string | undefined, port: number): string | undefined {
  const values = new Map(
    (header ?? "").split(";").map((part): [string, string] => {
      const [name = "", value = ""] = part.trim().split("=", 2);
      return [name, value];
    }),
  );
  return values.get(nameOf(port, true)) || values.get(nameOf(port, false)) || undefined;
}
