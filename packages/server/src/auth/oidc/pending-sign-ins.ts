import { z } from "zod";
import { createSecret, hashToken } from "../secrets.ts";
import type { LinkValues } from "../sign-in-links.ts";

const NAMESPACE = "oidc-pending";
/** Time for the person to sign in at the provider, in milliseconds. */
export const PENDING_MS = 10 * 60_000;
/** Maximum number of pending sign-ins. A new one replaces the oldest, because starting one needs no authentication. */
const MAX_PENDING = 500;

const pendingSchema = z.object({
  nonce: z.string(),
  verifier: z.string(),
  /** Hash of the secret in the browser's cookie. */
  browser: z.string(),
  /** Absolute URL of the page to which the browser returns. */
  returnTo: z.string(),
  /** Maximum age of the authentication at the provider, in seconds. */
  maxAge: z.number().optional(),
  /** Issuer and client id at the start. The settings may have changed since. */
  issuer: z.string(),
  clientId: z.string(),
  redirectUri: z.string(),
  startedAt: z.number(),
});
export type PendingSignIn = z.infer<typeof pendingSchema>;

/**
 * Sign-ins whose browser is at the provider. They are stored under the hash of their `state`, so that another gateway
 * with the same store can complete them.
 */
export interface PendingSignIns {
  /** Stores a sign-in and returns its `state`. */
  add(signIn: Omit<PendingSignIn, "startedAt">): Promise<string>;
  /** Removes and returns the sign-in with this `state`. Concurrent calls return it once. */
  take(state: string): Promise<PendingSignIn | undefined>;
}

export function createPendingSignIns(kv: LinkValues, now: () => number): PendingSignIns {
  const removeOldest = async (): Promise<void> => {
    const all = (await kv.list(NAMESPACE)).map(({ key, value }) => ({
      key,
      startedAt: pendingSchema.safeParse(value).data?.startedAt ?? 0,
    }));
    const oldest = all.sort((a, b) => b.startedAt - a.startedAt).slice(MAX_PENDING);
    await Promise.all(oldest.map(({ key }) => kv.delete(NAMESPACE, key)));
  };
  return {
    async add(signIn) {
      const state = createSecret();
      await kv.set(NAMESPACE, hashToken(state), { ...signIn, startedAt: now() }, PENDING_MS);
      await removeOldest();
      return state;
    },
    async take(state) {
      const key = hashToken(state);
      const pending = pendingSchema.safeParse(await kv.get(NAMESPACE, key)).data;
      if (pending === undefined || !(await kv.delete(NAMESPACE, key))) return undefined;
      return now() - pending.startedAt < PENDING_MS ? pending : undefined;
    },
  };
}
