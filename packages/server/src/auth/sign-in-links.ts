import { createSecret, hashToken } from "./secrets.ts";

/** Lifetime of a link in milliseconds. */
const LIFETIME_MS = 5 * 60_000;
/** Unused links that exist at a time. A new link replaces the oldest. */
const MAX_LINKS = 16;

/** The secret in the fragment of a sign-in link. */
export interface LinkSecret {
  readonly secret: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Secrets of sign-in links. They exist only in memory, so a restart invalidates them. */
export interface SignInLinks {
  /** Creates a link that signs in with the token of this hash. */
  issue(tokenHash: string): LinkSecret;
  /** Returns the token hash of a valid link and invalidates the link. */
  redeem(secret: string): string | undefined;
}

export function createSignInLinks(now: () => number): SignInLinks {
  /** Keyed by the hash of the secret, so that the time of a lookup does not reveal a similar secret. */
  const links = new Map<string, { readonly tokenHash: string; readonly expiresAt: number }>();
  return {
    issue(tokenHash) {
      const secret = createSecret();
      const expiresAt = now() + LIFETIME_MS;
      links.set(hashToken(secret), { tokenHash, expiresAt });
      const [oldest] = links.keys();
      if (links.size > MAX_LINKS && oldest !== undefined) links.delete(oldest);
      return { secret, expiresAt };
    },
    redeem(secret) {
      const id = hashToken(secret);
      const link = links.get(id);
      links.delete(id);
      return link !== undefined && now() < link.expiresAt ? link.tokenHash : undefined;
    },
  };
}
