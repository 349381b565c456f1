import { createHmac } from "node:crypto";
import type { SlackDelivery } from "./events.ts";

export interface PushOptions {
  readonly signingSecret: string;
  /** Seconds since the epoch, for the signature. Default: now. */
  readonly timestamp?: number | string;
  /** Number of the retry, and its reason. */
  readonly retry?: { readonly number: number; readonly reason: string };
}

/** A request in Slack's format. */
export interface Push {
  readonly method: "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns `v0=` and the HMAC-SHA256 over version, timestamp and body. Source: Slack's page on verifying requests. */
export function sign(timestamp: string, body: string | Uint8Array, signingSecret: string): string {
  return `v0=${createHmac("sha256", signingSecret).update(`v0:${timestamp}:`).update(body).digest("hex")}`;
}

/** Prepares a delivery as Slack does: events as JSON, clicks as JSON in a form, commands as a form. Signs it. */
export function push(delivery: SlackDelivery, options: PushOptions): Push {
  const { body, type } = written(delivery);
  return signed(body, type, options);
}

/** Returns a signed request with any body. */
export function signed(body: string, type: string, options: PushOptions): Push {
  const { signingSecret, retry } = options;
  const timestamp = String(options.timestamp ?? Math.floor(Date.now() / 1000));
  return {
    method: "POST",
    headers: {
      "content-type": type,
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": sign(timestamp, body, signingSecret),
      ...(retry === undefined
        ? {}
        : { "x-slack-retry-num": String(retry.number), "x-slack-retry-reason": retry.reason }),
    },
    body,
  };
}

function written({ type, body }: SlackDelivery): { readonly body: string; readonly type: string } {
  const form = "application/x-www-form-urlencoded";
  if (type === "events_api") return { body: JSON.stringify(body), type: "application/json" };
  if (type === "interactive")
    return { body: new URLSearchParams({ payload: JSON.stringify(body) }).toString(), type: form };
  const fields = Object.entries(body).map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return { body: new URLSearchParams(fields).toString(), type: form };
}
