import type { KvStore } from "@signalbox/store/types";
import { z } from "zod";
import { createSecret, hashToken } from "./secrets.ts";

/** Lifetime of a link in milliseconds. */
const LIFETIME_MS = 5 * 60_000;
/** Unused links that exist at a time. A new link replaces the oldest. */
const MAX_LINKS = 16;
const NAMESPACE = "sign-in-links";

const linkSchema = z.object({
  tokenHash: z.string(),
  expiresAt: z.number(),
  /** Increases with each link of a process. */
  order: z.number(),
});

/** The secret in the fragment of a sign-in link. */
export interface LinkSecret {
  readonly secret: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Secrets of sign-in links. They are stored, so that every gateway that shares the store accepts them. */
export interface SignInLinks {
  /** Creates a link that signs in with the token of this hash. */
  issue(tokenHash: string): Promise<LinkSecret>;
  /** Returns the token hash of a valid link and invalidates the link. */
  redeem(secret: string): Promise<string | undefined>;
}

/** Values by namespace and key. Concurrent calls of `delete` return true once. */
export type LinkValues = Pick<KvStore, "get" | "set" | "delete" | "list">;

export function createSignInLinks(kv: LinkValues, now: () => number): SignInLinks {
  let last = 0;

  /** Removes all but the latest links. */
  async function removeOldest(): Promise<void> {
    const links = (await kv.list(NAMESPACE)).map(({ key, value }) => ({
      key,
      order: linkSchema.safeParse(value).data?.order ?? 0,
    }));
    const oldest = links.sort((a, b) => b.order - a.order).slice(MAX_LINKS);
    await Promise.all(oldest.map(({ key }) => kv.delete(NAMESPACE, key)));
  }

  return {
    async issue(tokenHash) {
      const secret = createSecret();
      const expiresAt = now() + LIFETIME_MS;
      last = Math.max(last + 1, now());
      // The key is the hash of the secret, so that the time of a lookup does not reveal a similar secret.
      await kv.set(NAMESPACE, hashToken(secret), { tokenHash, expiresAt, order: last }, LIFETIME_MS);
      await removeOldest();
      return { secret, expiresAt };
    },
    async redeem(secret) {
      const id = hashToken(secret);
      const link = linkSchema.safeParse(await kv.get(NAMESPACE, id)).data;
      if (link === undefined || !(await kv.delete(NAMESPACE, id))) return undefined;
      return now() < link.expiresAt ? link.tokenHash : undefined;
    },
  };
}
