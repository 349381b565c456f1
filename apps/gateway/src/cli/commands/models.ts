import { text } from "node:stream/consumers";
import type { ProviderConfig } from "@signalbox/config";
import { GatewayError, openVault } from "@signalbox/home";
import { FailureError } from "@signalbox/llm-providers";
import { createBearerFetch } from "../../configure/subscriptions/bearer-fetch.ts";
import {
  CALLBACK_PORTS,
  type ChatGptSignIn,
  createChatGptSignIn,
} from "../../configure/subscriptions/chatgpt.ts";
import { readSetupToken } from "../../configure/subscriptions/claude.ts";
import { copilot, listCopilotModels } from "../../configure/subscriptions/copilot.ts";
import { startCopilotSignIn } from "../../configure/subscriptions/copilot-sign-in.ts";
import {
  openSubscriptions,
  type SignInKey,
  type Subscription,
  type SubscriptionCredentials,
  type SubscriptionStore,
} from "../../configure/subscriptions/credentials.ts";
import { SubscriptionError } from "../../configure/subscriptions/errors.ts";
import { MAY_END } from "../../configure/subscriptions/problems.ts";
import { getSignInKey } from "../../configure/subscriptions/vendors.ts";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import { askTerminal } from "../init/asker.ts";
import { print } from "../output.ts";
import { askForAddress, signInWithBrowser } from "./browser-sign-in.ts";

/** Time limit for a sign-in, in milliseconds. */
const SIGN_IN_MS = 600_000;

/** Pages on which a person can end the access. */
const ACCOUNT_PAGES: Readonly<Record<Subscription, string>> = {
  chatgpt: "https://chatgpt.com/#settings/Security",
  claude: "https://claude.ai/settings/claude-code",
  copilot: "https://github.com/settings/applications",
};

interface SignIn {
  readonly credentials: SubscriptionCredentials;
  /** The models that the vendor offers, if it lists them. */
  readonly models?: Awaited<ReturnType<typeof listCopilotModels>>;
}

/** `signalbox models login <provider>`: signs in with a subscription. */
export async function login(provider: string, options: CommonOptions): Promise<void> {
  const { key, configured, store } = openProvider(provider, options);
  process.stderr.write(`${MAY_END}: check its terms, and give each agent a fallback with an API key.\n`);
  const isTerminal = process.stdin.isTTY === true && options.json !== true;
  const { credentials, models } = await describeFailure(() => signIn(key, configured, isTerminal));
  await store.lock(provider, () => store.set(provider, credentials));
  print(options.json, { provider, signedIn: true, ...(models && { models }) }, () => [
    `Signed in: ${provider}.`,
    ...(models ?? []).map(({ id, contextWindow }) =>
      contextWindow === undefined ? `  ${id}` : `  ${id} (context window: ${contextWindow} tokens)`,
    ),
  ]);
}

async function signIn(key: SignInKey, configured: ProviderConfig, isTerminal: boolean): Promise<SignIn> {
  const { subscription, baseUrl } = key;
  if (subscription === "chatgpt") {
    const tokens = await signInWithBrowser(createChatGptSignIn(), {
      ports: CALLBACK_PORTS,
      show: (url) => void process.stderr.write(`Sign in within 10 minutes:\n${url}\n`),
      ask: isTerminal ? askForAddress : undefined,
      signal: AbortSignal.timeout(SIGN_IN_MS),
    });
    return { credentials: { ...tokens, baseUrl } };
  }
  if (subscription === "claude") {
    const pasted = isTerminal ? await askForToken() : await text(process.stdin);
    return { credentials: { ...readSetupToken(pasted, Date.now()), baseUrl } };
  }
  // The configuration requires it.
  const { clientId = "", githubHost } = configured;
  return signInWithDevice({ ...key, subscription }, await startCopilotSignIn({ clientId, githubHost }));
}

/**
 * Shows a device code and waits until the person has entered it at GitHub. GitHub then lists the models, unless it does
 * not allow the OAuth app.
 *
 * @throws SubscriptionError, FailureError
 */
export async function signInWithDevice(
  key: SignInKey<"copilot">,
  device: Awaited<ReturnType<typeof startCopilotSignIn>>,
  show: (text: string) => void = (line) => void process.stderr.write(line),
): Promise<SignIn> {
  const minutes = Math.floor(device.lifetimeMs / 60_000);
  show(`Open ${device.page} within ${minutes} minutes and enter the code: ${device.userCode}\n`);
  const tokens = await device.finish(AbortSignal.timeout(device.lifetimeMs));
  const { provider, baseUrl } = key;
  const credentials = { ...tokens, baseUrl };
  const fetch = createBearerFetch({
    provider,
    baseUrl,
    vendor: copilot,
    getCredentials: async () => credentials,
  });
  try {
    return { credentials, models: await listCopilotModels(fetch, baseUrl) };
  } catch (error) {
    if (error instanceof FailureError) throw error;
    return { credentials };
  }
}

async function askForToken(): Promise<string> {
  const asker = await askTerminal();
  const message = "Run `claude setup-token` and paste the token";
  return (await asker.secret({ message })) ?? "";
}

/** @throws GatewayError if a person or a vendor refuses the sign-in */
async function describeFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SubscriptionError) throw new GatewayError("failure", `${error.message}.`);
    if (error instanceof FailureError) throw new GatewayError("failure", error.message);
    throw error;
  }
}

/** `signalbox models logout <provider>`: removes the tokens and revokes them if the vendor allows it. */
export async function logout(provider: string, options: CommonOptions): Promise<void> {
  const { key, store } = openProvider(provider, options);
  const result = await signOut(key, store);
  print(options.json, { provider, ...result }, () => [
    result.wasSignedIn ? `Signed out: ${provider}.` : `Nobody was signed in: ${provider}.`,
    ...(result.wasSignedIn && !result.isRevoked
      ? [`The vendor did not revoke the access. You can do so at ${ACCOUNT_PAGES[key.subscription]}.`]
      : []),
  ]);
}

/** @param chatGpt revokes the tokens. Default: that of OpenAI. The other vendors let only the person revoke tokens. */
export async function signOut(
  key: SignInKey,
  store: SubscriptionStore,
  chatGpt: ChatGptSignIn = createChatGptSignIn(),
): Promise<{ readonly wasSignedIn: boolean; readonly isRevoked: boolean }> {
  const { provider } = key;
  return store.lock(provider, async () => {
    const credentials = await store.get(key);
    await store.set(provider, undefined);
    const isRevoked = credentials?.subscription === "chatgpt" && (await chatGpt.revoke(credentials));
    return { wasSignedIn: credentials !== undefined, isRevoked };
  });
}

function openProvider(provider: string, options: CommonOptions) {
  const { home, loaded } = configuredHome(options);
  const configured = loaded.config.models.providers[provider];
  const key = configured && getSignInKey(provider, configured);
  if (configured === undefined || key === undefined)
    throw new GatewayError(
      "usage",
      `models.providers.${provider} has no valid \`subscription\`. Set it to chatgpt, claude or copilot in the configuration, and see \`signalbox config check\`.`,
    );
  return { key, configured, store: openSubscriptions(home, openVault(loaded, process.env)) };
}
