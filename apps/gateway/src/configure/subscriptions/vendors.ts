import type { ProviderConfig } from "@signalbox/config";
import type { FetchLike } from "@signalbox/llm-providers";
import { createBearerFetch } from "./bearer-fetch.ts";
import { CHATGPT_URL, createChatGptSignIn } from "./chatgpt.ts";
import { createChatGptFetch } from "./chatgpt-fetch.ts";
import { CLAUDE_URL, claude } from "./claude.ts";
import { copilot, getCopilotUrl } from "./copilot.ts";
import type { SignInKey, SubscriptionStore } from "./credentials.ts";

/** Returns the sign-in that a provider uses, if it uses a subscription. */
export function getSignInKey(
  provider: string,
  { subscription, baseUrl, githubHost }: Pick<ProviderConfig, "subscription" | "baseUrl" | "githubHost">,
): SignInKey | undefined {
  switch (subscription) {
    case undefined:
      return undefined;
    case "chatgpt":
      return { provider, subscription, baseUrl: baseUrl ?? CHATGPT_URL };
    case "claude":
      return { provider, subscription, baseUrl: baseUrl ?? CLAUDE_URL };
    case "copilot":
      return { provider, subscription, baseUrl: baseUrl ?? getCopilotUrl(githubHost) };
  }
}

/** Creates the `fetch` that adds the credentials of a subscription. */
export function createSubscriptionFetch(key: SignInKey, store: SubscriptionStore): FetchLike {
  const { provider, subscription, baseUrl } = key;
  if (subscription === "chatgpt")
    return createChatGptFetch({ provider, baseUrl, store, signIn: createChatGptSignIn() });
  return createBearerFetch({
    provider,
    baseUrl,
    vendor: subscription === "claude" ? claude : copilot,
    getCredentials: () => store.get({ provider, subscription, baseUrl }),
  });
}
