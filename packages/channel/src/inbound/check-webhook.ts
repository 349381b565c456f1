import type { AccountCheck } from "../contract/definition.ts";
import { reasonOf } from "../contract/errors.ts";
import { isPayload } from "./payload.ts";

/** A challenge that the platform would send to a webhook address, with its signature. */
export interface WebhookChallenge {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The value that the account must return as `challenge`. */
  readonly challenge: string;
}

export interface WebhookCheck {
  /** The platform's name for people, for instance `Slack`. */
  readonly platform: string;
  /** The address that is registered on the platform. Absent if it is not known. */
  readonly url?: string | undefined;
  readonly challenge: WebhookChallenge;
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
}

const about = "webhook";

/**
 * Checks whether this account answers at the address that is registered on the platform, by sending the platform's
 * challenge there. It cannot check whether the platform itself reaches the address.
 */
export async function checkWebhook({ platform, url, ...challenge }: WebhookCheck): Promise<AccountCheck> {
  if (url === undefined)
    return {
      about,
      ok: true,
      detail: `not checked: ${platform} does not report whether its events arrive. Set webhookUrl to the address that is registered there to have it checked`,
    };
  const problem = await findProblem(url, challenge);
  if (problem === undefined)
    return {
      about,
      ok: true,
      detail: `this account answers at ${url} from here. Whether ${platform} reaches it is shown only in its console`,
    };
  const remedy = `Route this address to the gateway through your proxy, and register the same address at ${platform}.`;
  return { about, ok: false, detail: `${url} ${problem}`, remedy };
}

/** Describes why the account does not answer at an address. Returns `undefined` if it does. */
async function findProblem(
  url: string,
  { challenge: { body, headers, challenge }, fetch, signal }: Omit<WebhookCheck, "platform" | "url">,
): Promise<string | undefined> {
  try {
    const request = { method: "POST", body, headers, redirect: "manual", signal } as const;
    const response = await fetch(url, request);
    if (response.status === 401) return "rejects this account's secret: another account answers there";
    if (!response.ok) {
      await response.body?.cancel();
      return `responds with HTTP ${response.status}`;
    }
    const answer: unknown = await response.json().catch(() => undefined);
    const isOurs = isPayload(answer) && answer["challenge"] === challenge;
    return isOurs ? undefined : "responds, but not from this account";
  } catch (error) {
    return `cannot be reached: ${reasonOf(error)}`;
  }
}
