import { type Home, openSecretValues } from "@signalbox/home";
import type { Vault } from "@signalbox/redaction";
import { z } from "zod";

interface StoredCredentials {
  readonly accessToken: string;
  /** The tokens are sent to no other base URL. */
  readonly baseUrl: string;
}

/** The result of a sign-in. Contains secrets. JSON. `expiresAt` is in milliseconds since the epoch. */
export type SubscriptionCredentials = StoredCredentials &
  (
    | {
        readonly subscription: "chatgpt";
        readonly refreshToken: string;
        readonly accountId: string;
        readonly expiresAt: number;
      }
    | { readonly subscription: "claude"; readonly expiresAt: number }
    | { readonly subscription: "copilot"; readonly expiresAt?: number | undefined }
  );
export type Subscription = SubscriptionCredentials["subscription"];
/** The credentials of one subscription. */
export type CredentialsOf<Which extends Subscription> = Extract<
  SubscriptionCredentials,
  { readonly subscription: Which }
>;

/** Identifies a sign-in. After a change of one of these, a person has to sign in again. */
export interface SignInKey<Which extends Subscription = Subscription> {
  /** Name of the provider. */
  readonly provider: string;
  readonly subscription: Which;
  readonly baseUrl: string;
}

/** Stores credentials by the name of the provider. */
export interface SubscriptionStore {
  /** Returns undefined without a sign-in, or if it is for another base URL or subscription. */
  get<Which extends Subscription>(key: SignInKey<Which>): Promise<CredentialsOf<Which> | undefined>;
  /** Without credentials, removes the stored ones. */
  set(provider: string, credentials: SubscriptionCredentials | undefined): Promise<void>;
  /** Runs `work` while no other process of this home does so. A refresh token can be used only once. */
  lock<Result>(provider: string, work: () => Promise<Result>): Promise<Result>;
}

const text = z.string().min(1);
const stored = { accessToken: text, baseUrl: text };
const credentialsSchema: z.ZodType<SubscriptionCredentials> = z.discriminatedUnion("subscription", [
  z.object({
    subscription: z.literal("chatgpt"),
    refreshToken: text,
    accountId: text,
    expiresAt: z.number(),
    ...stored,
  }),
  z.object({ subscription: z.literal("claude"), expiresAt: z.number(), ...stored }),
  z.object({ subscription: z.literal("copilot"), expiresAt: z.number().optional(), ...stored }),
]);

/**
 * Opens the sign-ins with subscriptions in the home. Every token that is read or written is hidden in logs, traces and
 * prompts from then on.
 */
export function openSubscriptions(home: Pick<Home, "dir">, vault: Vault): SubscriptionStore {
  const files = openSecretValues(home, "subscriptions");
  const hidden = new Set<string>();
  const hide = (credentials: SubscriptionCredentials): void => {
    const tokens = [
      credentials.accessToken,
      ...("refreshToken" in credentials ? [credentials.refreshToken] : []),
    ];
    const added = tokens.filter((token) => !hidden.has(token));
    for (const token of added) hidden.add(token);
    if (added.length > 0) vault.add(added);
  };
  return {
    async get({ provider, subscription, baseUrl }) {
      const { data } = credentialsSchema.safeParse(await files.get(provider));
      if (data === undefined) return undefined;
      hide(data);
      return isFor(data, subscription) && data.baseUrl === baseUrl ? data : undefined;
    },
    async set(provider, credentials) {
      if (credentials !== undefined) hide(credentials);
      await files.set(provider, credentials);
    },
    lock: (provider, work) => files.lock(provider, work),
  };
}

function isFor<Which extends Subscription>(
  credentials: SubscriptionCredentials,
  subscription: Which,
): credentials is CredentialsOf<Which> {
  return credentials.subscription === subscription;
}
