import { type Home, openSecretValues } from "@signalbox/home";
import type { Vault } from "@signalbox/redaction";
import { z } from "zod";
import type { SubscriptionTokens } from "./chatgpt.ts";

/** The result of a sign-in. Contains secrets. JSON. */
export interface SubscriptionCredentials extends SubscriptionTokens {
  /** The tokens are sent to no other base URL. */
  readonly baseUrl: string;
}

/** Stores credentials by the name of the provider. */
export interface SubscriptionStore {
  /** Returns undefined without a sign-in, or if the sign-in is for another base URL. */
  get(provider: string, baseUrl: string): Promise<SubscriptionCredentials | undefined>;
  /** Without credentials, removes the stored ones. */
  set(provider: string, credentials: SubscriptionCredentials | undefined): Promise<void>;
  /** Runs `work` while no other process of this home does so. A refresh token can be used only once. */
  lock<Result>(provider: string, work: () => Promise<Result>): Promise<Result>;
}

const text = z.string().min(1);
const credentialsSchema = z.object({
  accessToken: text,
  refreshToken: text,
  accountId: text,
  expiresAt: z.number(),
  baseUrl: text,
});

/**
 * Opens the sign-ins with subscriptions in the home. Every token that is read or written is hidden in logs, traces and
 * prompts from then on.
 */
export function openSubscriptions(home: Pick<Home, "dir">, vault: Vault): SubscriptionStore {
  const files = openSecretValues(home, "subscriptions");
  const hidden = new Set<string>();
  const hide = ({ accessToken, refreshToken }: SubscriptionCredentials): void => {
    const added = [accessToken, refreshToken].filter((token) => !hidden.has(token));
    for (const token of added) hidden.add(token);
    if (added.length > 0) vault.add(added);
  };
  return {
    async get(provider, baseUrl) {
      const { data } = credentialsSchema.safeParse(await files.get(provider));
      if (data === undefined) return undefined;
      hide(data);
      return data.baseUrl === baseUrl ? data : undefined;
    },
    async set(provider, credentials) {
      if (credentials !== undefined) hide(credentials);
      await files.set(provider, credentials);
    },
    lock: (provider, work) => files.lock(provider, work),
  };
}
