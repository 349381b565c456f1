import type { AccountCheck } from "../contract/definition.ts";
import { reasonOf } from "../contract/errors.ts";
import { readLimited } from "../host/read-limited.ts";
import { parsePayload } from "./payload.ts";

/** A challenge like the one that a platform sends to a webhook URL. */
export type WebhookChallenge =
  | {
      readonly body: string;
      /** Headers, including the signature. */
      readonly headers: Readonly<Record<string, string>>;
      /** The value that the account must return as `challenge`. */
      readonly challenge: string;
    }
  | {
      /** Parameters of a GET request. */
      readonly query: Readonly<Record<string, string>>;
      /** The expected body of the response. */
      readonly challenge: string;
    };

export interface WebhookCheck {
  /** The platform's display name, for instance `Slack`. */
  readonly platform: string;
  /** The URL that is registered on the platform. Absent if unknown. */
  readonly url?: string | undefined;
  readonly challenge: WebhookChallenge;
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
}

const about = "webhook";
const MAX_RESPONSE_BYTES = 10_000;

/**
 * Checks whether this account responds at the URL that is registered on the platform, by sending the platform's
 * challenge to it. Cannot check whether the platform itself can reach the URL.
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

function toRequest(url: string, challenge: WebhookChallenge): [URL, RequestInit] {
  const address = new URL(url);
  if (!("query" in challenge)) {
    const { body, headers } = challenge;
    return [address, { method: "POST", body, headers }];
  }
  for (const [name, value] of Object.entries(challenge.query)) address.searchParams.set(name, value);
  return [address, { method: "GET" }];
}

/** Returns the reason why the account does not respond at a URL, or `undefined` if it does. */
async function findProblem(
  url: string,
  { challenge, fetch, signal }: Omit<WebhookCheck, "platform" | "url">,
): Promise<string | undefined> {
  try {
    const [address, init] = toRequest(url, challenge);
    const response = await fetch(address, { ...init, redirect: "manual", signal });
    if (response.status === 401 || response.status === 403)
      return "rejects this account's secret: another account answers there";
    if (!response.ok) {
      await response.body?.cancel();
      return `responds with HTTP ${response.status}`;
    }
    const text = new TextDecoder().decode(await readLimited(response.body, MAX_RESPONSE_BYTES));
    const answer = "query" in challenge ? text : parsePayload(text)?.["challenge"];
    return answer === challenge.challenge ? undefined : "responds, but not from this account";
  } catch (error) {
    return `cannot be reached: ${reasonOf(error)}`;
  }
}
