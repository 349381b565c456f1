/** Prefix of the secret in the fragment of a sign-in link. */
const FRAGMENT = "#sign-in=";

/** Loopback addresses for the wildcard addresses on which a gateway may listen. */
const LOOPBACK: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "[::]": "[::1]" };

/**
 * Builds the URL that signs a browser in. The secret is in the fragment, which browsers do not send to servers.
 *
 * @param secret result of `signInLink`
 */
export function signInAddress(baseUrl: string, secret: string): string {
  const address = new URL("/", baseUrl);
  address.hostname = LOOPBACK[address.hostname] ?? address.hostname;
  return `${address.href}${FRAGMENT}${secret}`;
}

/**
 * Returns the secret of a sign-in link, if any.
 *
 * @param fragment `location.hash`
 */
export function signInSecret(fragment: string): string | undefined {
  return fragment.startsWith(FRAGMENT) ? fragment.slice(FRAGMENT.length) : undefined;
}
