import type { Config } from "@signalbox/config";
import type { SignInKey, SubscriptionStore } from "../../configure/subscriptions/credentials.ts";
import { MAY_END } from "../../configure/subscriptions/problems.ts";
import { getSignInKey } from "../../configure/subscriptions/vendors.ts";
import type { Finding } from "./finding.ts";

/** Time before the expiry of a sign-in from which it is reported, in milliseconds. */
const SOON_MS = 14 * 24 * 3_600_000;

/** Reports the sign-in state of each provider that uses a subscription. Sends nothing to the vendors. */
export async function checkSubscriptions(
  { models }: Config,
  store: Pick<SubscriptionStore, "get">,
  now: number,
): Promise<Finding[]> {
  const keys = Object.entries(models.providers).flatMap(
    ([name, provider]) => getSignInKey(name, provider) ?? [],
  );
  return Promise.all(keys.map((key) => checkSignIn(key, store, now)));
}

async function checkSignIn(
  key: SignInKey,
  store: Pick<SubscriptionStore, "get">,
  now: number,
): Promise<Finding> {
  const { provider, subscription } = key;
  const part = `subscription ${provider}`;
  const remedy = `Run \`signalbox models login ${provider}\` on this machine.`;
  const credentials = await store.get(key);
  if (credentials === undefined) return { part, state: "error", detail: "nobody has signed in", remedy };
  const { expiresAt } = credentials;
  // The gateway refreshes only the tokens of ChatGPT.
  if (subscription !== "chatgpt" && expiresAt !== undefined && expiresAt < now + SOON_MS) {
    const day = new Date(expiresAt).toISOString().slice(0, 10);
    return expiresAt <= now
      ? { part, state: "error", detail: `the sign-in expired on ${day}`, remedy }
      : { part, state: "warning", detail: `the sign-in expires on ${day}`, remedy };
  }
  return { part, state: "ok", detail: `signed in. ${MAY_END}` };
}
