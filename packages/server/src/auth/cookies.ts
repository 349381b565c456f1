/**
 * The name contains the port, because browsers send a cookie to all ports of a host: two gateways on one host would
 * otherwise overwrite each other's sessions. Over HTTPS, the prefix `__Host-` keeps other hosts and plain HTTP from
 * setting the cookie.
 */
function createName(port: number, secure: boolean): string {
  return `${secure ? "__Host-" : ""}signalbox-${port}`;
}

const ATTRIBUTES = "HttpOnly; SameSite=Strict; Path=/";

/** Returns a `Set-Cookie` value. `maxAgeMs` 0 deletes the cookie. */
export function setCookie(
  { port, secure }: { readonly port: number; readonly secure: boolean },
  value: string,
  maxAgeMs: number,
): string {
  const flags = secure ? `Secure; ${ATTRIBUTES}` : ATTRIBUTES;
  return `${createName(port, secure)}=${value}; ${flags}; Max-Age=${Math.floor(maxAgeMs / 1000)}`;
}

/** Reads this gateway's cookie from a `Cookie` header. */
export function readCookie(header: string | undefined, port: number): string | undefined {
  const values = new Map(
    (header ?? "").split(";").map((part): [string, string] => {
      const [name = "", value = ""] = part.trim().split("=", 2);
      return [name, value];
    }),
  );
  return values.get(createName(port, true)) || values.get(createName(port, false)) || undefined;
}
