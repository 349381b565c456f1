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
  const values = parseCookies(header);
  return values.get(createName(port, true)) || values.get(createName(port, false)) || undefined;
}

/**
 * Cookie that binds a sign-in at the OpenID provider to the browser that started it. `SameSite` is `Lax`, because the
 * browser comes back from another site. The name depends on the public address and not on the local port, since another
 * gateway with the same store may receive the callback.
 */
export function setSignInCookie(publicUrl: URL, value: string, maxAgeMs: number): string {
  const flags = isSecure(publicUrl) ? "Secure; HttpOnly" : "HttpOnly";
  return `${createSignInName(publicUrl)}=${value}; ${flags}; SameSite=Lax; Path=/; Max-Age=${Math.floor(maxAgeMs / 1000)}`;
}

/** Reads the cookie of {@link setSignInCookie}. */
export function readSignInCookie(header: string | undefined, publicUrl: URL): string | undefined {
  return parseCookies(header).get(createSignInName(publicUrl)) || undefined;
}

function createSignInName(publicUrl: URL): string {
  const port = publicUrl.port === "" ? (isSecure(publicUrl) ? "443" : "80") : publicUrl.port;
  return `${isSecure(publicUrl) ? "__Host-" : ""}signalbox-sign-in-${port}`;
}

function isSecure({ protocol }: URL): boolean {
  return protocol === "https:";
}

function parseCookies(header: string | undefined): ReadonlyMap<string, string> {
  return new Map(
    (header ?? "").split(";").map((part): [string, string] => {
      const [name = "", value = ""] = part.trim().split("=", 2);
      return [name, value];
    }),
  );
}
