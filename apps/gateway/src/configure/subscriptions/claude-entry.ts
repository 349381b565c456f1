import { createCatalogue, type ProviderEntry } from "@signalbox/llm-providers";
import { createBearerFetch } from "./bearer-fetch.ts";
import { CLAUDE_URL, claude, readSetupToken } from "./claude.ts";
import type { CredentialsOf, SubscriptionStore } from "./credentials.ts";

const API = "anthropic-messages";

/** A Claude plan that is being set up. */
export interface ClaudeSetup {
  /** Provider of the model registry, with Anthropic's models. It uses the pasted token, or the stored sign-in. */
  readonly entry: ProviderEntry;
  /** The sign-in to store. Undefined without a pasted token. */
  readonly credentials: CredentialsOf<"claude"> | undefined;
}

/**
 * @param pasted the text that a person pasted. Without it, the stored sign-in is used.
 * @throws SubscriptionError if the text is no setup token
 */
export function openClaudeSetup({
  provider,
  baseUrl = CLAUDE_URL,
  pasted,
  store,
}: {
  readonly provider: string;
  readonly baseUrl?: string | undefined;
  readonly pasted: string | undefined;
  readonly store: SubscriptionStore;
}): ClaudeSetup {
  const credentials = pasted === undefined ? undefined : { ...readSetupToken(pasted, Date.now()), baseUrl };
  const getCredentials = async () =>
    credentials ?? (await store.get({ provider, subscription: "claude", baseUrl }));
  const fetch = createBearerFetch({ provider, baseUrl, vendor: claude, getCredentials });
  const known = createCatalogue().list();
  const models = known.flatMap(({ api, id }) => (api === API ? [{ id }] : []));
  return { entry: { api: API, baseUrl, fetch, models }, credentials };
}
