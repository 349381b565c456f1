import { createHmac } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

/** A request in Meta's format. */
export interface SignedRequest {
  readonly method: "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Signs a payload with `X-Hub-Signature-256`. Source: "Validating payloads" of Meta's webhooks. */
export function signed(payload: unknown, appSecret: string): SignedRequest {
  // Meta escapes characters outside ASCII before it signs.
  const body = JSON.stringify(payload).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const signature = createHmac("sha256", appSecret).update(body).digest("hex");
  const headers = { "content-type": "application/json", "x-hub-signature-256": `sha256=${signature}` };
  return { method: "POST", headers, body };
}

/** Time before a webhook is delivered again, in milliseconds. Meta waits longer. */
const REDELIVERY_MS = 100;

interface WebhookSecrets {
  readonly appSecret: string;
  readonly verifyToken: string;
}

/** Delivers webhooks to a subscribed URL, again and again until it responds with 200. */
export class Webhooks {
  readonly #secrets: WebhookSecrets;
  readonly #stopped = new AbortController();
  #url: string | undefined;

  constructor(secrets: WebhookSecrets) {
    this.#secrets = secrets;
  }

  get url(): string | undefined {
    return this.#url;
  }

  /** Subscribes a URL after it answered the challenge. Resolves with false if it did not. */
  async subscribe(url: string): Promise<boolean> {
    const challenge = String(1_158_201_444 + Math.floor(Math.random() * 1_000));
    const address = new URL(url);
    address.searchParams.set("hub.mode", "subscribe");
    address.searchParams.set("hub.verify_token", this.#secrets.verifyToken);
    address.searchParams.set("hub.challenge", challenge);
    const response = await fetch(address);
    const isAnswered = response.status === 200 && (await response.text()) === challenge;
    if (isAnswered) this.#url = url;
    return isAnswered;
  }

  /**
   * Resolves with true once the webhook was accepted, or with false if there is no subscription or the server stops.
   */
  async deliver(payload: unknown): Promise<boolean> {
    const request = signed(payload, this.#secrets.appSecret);
    const { signal } = this.#stopped;
    while (this.#url !== undefined && !signal.aborted) {
      const response = await fetch(this.#url, { ...request, signal }).catch(() => undefined);
      await response?.body?.cancel();
      if (response?.status === 200) return true;
      await delay(REDELIVERY_MS, undefined, { signal }).catch(() => {});
    }
    return false;
  }

  stop(): void {
    this.#stopped.abort();
  }
}
