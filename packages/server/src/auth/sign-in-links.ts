import { randomBytes } from "node:crypto";
import { tokenHash as hashOf } from "./token-hash.ts";

/** A link signs in once, and within this time. */
const GOOD_FOR_MS = 5 * 60_000;
/** So many wait to be used at most; a new one takes the place of the oldest. */
const MOST_LINKS = 16;

/** What a sign-in link carries in the fragment of its address. */
export interface LinkSecret {
  readonly secret: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Secrets of sign-in links. They live in memory alone: a gateway that starts again takes none of an earlier one. */
export interface SignInLinks {
  /** A link that signs in as whoever holds the token of this hash. */
  issue(tokenHash: string): LinkSecret;
  /** The hash of the token that a link was made with; the link is used up by that. */
  redeem(secret: string): string | undefined;
}

export function createSignInLinks(now: () => number): SignInLinks {
  /** By the hash of the secret, so that looking one up takes no longer for one that is nearly right. */
  const links = new Map<string, { readonly tokenHash: string; readonly expiresAt: number }>();
  return {
    issue(tokenHash) {
      const secret = randomBytes(32).toString("base64url");
      const expiresAt = now() + GOOD_FOR_MS;
      links.set(hashOf(secret), { tokenHash, expiresAt });
      const [oldest] = links.keys();
      if (links.size > MOST_LINKS && oldest !== undefined) links.delete(oldest);
      return { secret, expiresAt };
    },
    redeem(secret) {
      const id = hashOf(secret);
      const link = links.get(id);
      links.delete(id);
      return link !== undefined && now() < link.expiresAt ? link.tokenHash : undefined;
    },
  };
}
