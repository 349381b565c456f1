import type { KvStore } from "@signalbox/store/types";
import { z } from "zod";
import { createSecret, hashToken } from "./secrets.ts";
import { sessionDetailsSchema } from "./sessions.ts";

/** Links for people, who open them in a browser. */
const LINKS = {
  namespace: "sign-in-links",
  lifetimeMs: 5 * 60_000,
  /** Unused links that exist at a time. A new link replaces the oldest. */
  max: 16,
} as const;

const linkSchema = z.object({
  tokenHash: z.string(),
  expiresAt: z.number(),
  /** Increases with each link of a process. */
  order: z.number(),
  /** Hash of the secret in the cookie of the only browser that may redeem the link. */
  browser: z.string().optional(),
  details: sessionDetailsSchema.optional(),
});

/** The secret in the fragment of a sign-in link. */
export interface LinkSecret {
  readonly secret: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The session that a link opens. */
export type LinkGrant = Pick<z.infer<typeof linkSchema>, "tokenHash" | "browser" | "details">;

/** Secrets of sign-in links. They are stored, so that every gateway that shares the store accepts them. */
export interface SignInLinks {
  /** Creates a link that signs in with the token of this hash. */
  issue(grant: LinkGrant): Promise<LinkSecret>;
  /**
   * Returns the session of a valid link and invalidates the link.
   *
   * @param browser the secret in the browser's cookie, if any
   */
  redeem(secret: string, browser: string | undefined): Promise<LinkGrant | undefined>;
}

/** Values by namespace and key. Concurrent calls of `delete` return true once. */
export type LinkValues = Pick<KvStore, "get" | "set" | "delete" | "list">;

export function createSignInLinks(
  kv: LinkValues,
  now: () => number,
  { namespace, lifetimeMs, max }: { namespace: string; lifetimeMs: number; max: number } = LINKS,
): SignInLinks {
  let last = 0;

  /** Removes all but the latest links. */
  async function removeOldest(): Promise<void> {
    const links = (await kv.list(namespace)).map(({ key, value }) => ({
      key,
      order: linkSchema.safeParse(value).data?.order ?? 0,
    }));
    const oldest = links.sort((a, b) => b.order - a.order).slice(max);
    await Promise.all(oldest.map(({ key }) => kv.delete(namespace, key)));
  }

  return {
    async issue(grant) {
      const secret = createSecret();
      const expiresAt = now() + lifetimeMs;
      last = Math.max(last + 1, now());
      // The key is the hash of the secret, so that the time of a lookup does not reveal a similar secret.
      await kv.set(namespace, hashToken(secret), { ...grant, expiresAt, order: last }, lifetimeMs);
      await removeOldest();
      return { secret, expiresAt };
    },
    async redeem(secret, browser) {
      const id = hashToken(secret);
      const link = linkSchema.safeParse(await kv.get(namespace, id)).data;
      if (link === undefined || !(await kv.delete(namespace, id)) || now() >= link.expiresAt)
        return undefined;
      const isBrowser = link.browser === undefined || link.browser === hashToken(browser ?? "");
      return isBrowser ? link : undefined;
    },
  };
}
