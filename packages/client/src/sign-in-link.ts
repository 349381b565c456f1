/** Before the secret, in the fragment of a sign-in link. */
const FRAGMENT = "#sign-in=";

/** Addresses that a gateway listens on all interfaces by, and one that a browser on its machine reaches it at. */
const REACHED_AT: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "[::]": "[::1]" };

/** The address that signs a browser in. Only the page sees its fragment: browsers send it to no server. */
export function signInAddress(baseUrl: string, secret: string): string {
  const address = new URL("/", baseUrl);
  address.hostname = REACHED_AT[address.hostname] ?? address.hostname;
  return `${address.href}${FRAGMENT}${secret}`;
}

/** The secret of a sign-in link, by the fragment of the address (`location.hash`). */
export function signInSecret(fragment: string): string | undefined {
  return fragment.startsWith(FRAGMENT) ? fragment.slice(FRAGMENT.length) : undefined;
}
