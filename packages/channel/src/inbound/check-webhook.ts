import type { AccountCheck } from "../contract/definition.ts";
import { reasonOf } from "../contract/errors.ts";
import { isPayload } from "./payload.ts";

/** The platform's own question to an address, as the platform signs it. */
export interface WebhookChallenge {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What the account has to answer under the same name. */
  readonly challenge: string;
}

export interface WebhookCheck {
  /** For people, for instance `Slack`. */
  readonly platform: string;
  /** The address that the platform was given; absent if it is not known. */
  readonly url?: string | undefined;
  readonly challenge: WebhookChallenge;
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
}

const about = "webhook";

/**
 * Puts the platform's own challenge to the address that it is given, and says whether this account answers there. That
 * the platform reaches the address as well, only the platform could say.
 */
export async function checkWebhook({ platform, url, ...ask }: WebhookCheck): Promise<AccountCheck> {
  if (url === undefined)
    return {
      about,
      ok: true,
      detail: `not checked: ${platform} tells nobody whether its events arrive. With webhookUrl, the address entered there, that address is called from here`,
    };
  const trouble = await troubleAt(url, ask);
  if (trouble === undefined)
    return {
      about,
      ok: true,
      detail: `this account answers at ${url}, called from here; whether ${platform} reaches it too, only its console shows`,
    };
  const remedy = `Lead that address to this gateway through the proxy, and enter the same one at ${platform}.`;
  return { about, ok: false, detail: `${url} ${trouble}`, remedy };
}

/** What is wrong at an address; undefined where the account answers. */
async function troubleAt(
  url: string,
  { challenge: { body, headers, challenge }, fetch, signal }: Omit<WebhookCheck, "platform" | "url">,
): Promise<string | undefined> {
  try {
    const request = { method: "POST", body, headers, redirect: "manual", signal } as const;
    const response = await fetch(url, request);
    if (response.status === 401) return "does not take this account's secret: another account answers there";
    if (!response.ok) {
      await response.body?.cancel();
      return `answers ${response.status}`;
    }
    const answer: unknown = await response.json().catch(() => undefined);
    const isOurs = isPayload(answer) && answer["challenge"] === challenge;
    return isOurs ? undefined : "is answered by something else than this account";
  } catch (error) {
    return `cannot be reached: ${reasonOf(error)}`;
  }
}
