import { isJsonObject } from "@signalbox/agent-core";
import { defaultFetch, FailureError, type FetchLike, failure } from "@signalbox/llm-providers";
import { type ChatGptSignIn, ORIGINATOR } from "./chatgpt.ts";
import type { CredentialsOf, SubscriptionStore } from "./credentials.ts";
import { refuse, SubscriptionError } from "./errors.ts";

/** Time before the expiry of a token at which it is replaced, in milliseconds. */
const EARLY_MS = 60_000;

/** Fields of the Responses API that the vendor refuses for subscriptions. */
const REFUSED_FIELDS: readonly string[] = [
  "max_output_tokens",
  "temperature",
  "top_p",
  "prompt_cache_retention",
];

type Credentials = CredentialsOf<"chatgpt">;

export interface ChatGptFetchOptions {
  /** Name of the provider. */
  readonly provider: string;
  readonly baseUrl: string;
  readonly store: SubscriptionStore;
  readonly signIn: ChatGptSignIn;
  readonly now?: () => number;
  /** Default: that of the providers. */
  readonly fetch?: FetchLike;
}

/**
 * Creates a `fetch` that adds the access token of a subscription. Refreshes the token before it expires, and once more
 * if the server rejects it.
 *
 * @returns a function that throws FailureError (`auth`) if a person has to sign in. Only fallbacks are then tried, and
 *   the next request tries the subscription again.
 */
export function createChatGptFetch(options: ChatGptFetchOptions): FetchLike {
  const { provider, baseUrl, store, signIn, now = Date.now, fetch = defaultFetch } = options;
  const { origin } = new URL(baseUrl);
  const key = { provider, baseUrl, subscription: "chatgpt" } as const;
  const refuseAccess = (reason: string): FailureError => refuse(provider, { code: "auth", reason });

  async function getCredentials(): Promise<Credentials> {
    const credentials = await store.get(key);
    if (credentials === undefined) throw refuseAccess("nobody has signed in");
    if (now() < credentials.expiresAt - EARLY_MS) return credentials;
    try {
      return await replace(credentials);
    } catch (error) {
      // The authorization server may be down for a moment while the token is still valid.
      if (now() < credentials.expiresAt && error instanceof SubscriptionError) return credentials;
      throw error;
    }
  }

  /** @throws FailureError if a person has to sign in */
  function replace(rejected: Credentials): Promise<Credentials> {
    return store.lock(provider, async () => {
      const current = await store.get(key);
      if (current === undefined) throw refuseAccess("nobody has signed in");
      // Another run or process has replaced the token already.
      if (current.accessToken !== rejected.accessToken) return current;
      try {
        const renewed = { ...(await signIn.refresh(current)), baseUrl };
        await store.set(provider, renewed);
        return renewed;
      } catch (error) {
        if (!(error instanceof SubscriptionError) || !error.isFinal) throw error;
        await store.set(provider, undefined);
        throw refuseAccess(error.message);
      }
    });
  }

  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin) throw refuseAccess(`a request was addressed to ${url.host}`);
    const send = ({ accessToken, accountId }: Credentials): Promise<Response> => {
      const headers = new Headers(init?.headers);
      headers.set("authorization", `Bearer ${accessToken}`);
      headers.set("chatgpt-account-id", accountId);
      headers.set("originator", ORIGINATOR);
      return fetch(url, { ...init, headers, body: withoutRefusedFields(init?.body), redirect: "manual" });
    };
    try {
      const credentials = await getCredentials();
      const response = await send(credentials);
      if (response.status !== 401) return response;
      await response.body?.cancel();
      const second = await send(await replace(credentials));
      if (second.status !== 401) return second;
      await second.body?.cancel();
    } catch (error) {
      if (!(error instanceof SubscriptionError)) throw error;
      throw new FailureError(failure("network", `${provider}: ${error.message}`));
    }
    throw refuseAccess("the vendor refuses the sign-in and may have ended this access");
  };
}

function withoutRefusedFields(body: RequestInit["body"]): RequestInit["body"] {
  if (typeof body !== "string") return body;
  const parsed: unknown = JSON.parse(body);
  if (!isJsonObject(parsed)) return body;
  return JSON.stringify(
    Object.fromEntries(Object.entries(parsed).filter(([field]) => !REFUSED_FIELDS.includes(field))),
  );
}
