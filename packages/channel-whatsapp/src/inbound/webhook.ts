import { createHmac } from "node:crypto";
import {
  type ChannelContext,
  createWebhook,
  equalInConstantTime,
  type ForgedRequest,
  type HandleResult,
  type Payload,
  parsePayload,
  type ReadBody,
  type VerifyResult,
  type WebhookMonitor,
} from "@signalbox/channel";
import type { WhatsAppConfig } from "../config.ts";
import { limits } from "../limits.ts";

/**
 * Creates the handler for webhook requests. Meta signs the body with the app secret in `X-Hub-Signature-256`, and sends
 * a GET request with the verify token when the URL is saved. Source: "Webhooks from Meta > Getting started".
 */
export function createEventWebhook(
  { config, logger }: Pick<ChannelContext<WhatsAppConfig>, "config" | "logger">,
  handle: (payload: Payload) => Promise<HandleResult>,
  monitor: WebhookMonitor,
): (request: Request, read?: ReadBody) => Promise<Response> {
  function verify(body: Uint8Array, headers: Headers): VerifyResult<Payload> {
    const expected = `sha256=${createHmac("sha256", config.appSecret).update(body).digest("hex")}`;
    const signature = headers.get("x-hub-signature-256");
    if (signature === null) return { kind: "forged", reason: "not signed" };
    if (!equalInConstantTime(signature, expected))
      return {
        kind: "forged",
        reason: "the signature does not fit appSecret",
        remedy: "Compare appSecret with the App secret under App settings > Basic of the app.",
      };
    const payload = parsePayload(new TextDecoder().decode(body));
    return payload === undefined
      ? { kind: "malformed", reason: "not a JSON object" }
      : { kind: "event", event: payload };
  }

  function challenge({ searchParams }: URL): string | ForgedRequest | undefined {
    const token = searchParams.get("hub.verify_token");
    if (token === null || searchParams.get("hub.mode") !== "subscribe") return undefined;
    if (equalInConstantTime(token, config.verifyToken)) return searchParams.get("hub.challenge") ?? undefined;
    return {
      kind: "forged",
      reason: "another verify token",
      remedy: "Enter verifyToken as the Verify token under WhatsApp > Configuration of the app.",
    };
  }

  return createWebhook({ maxBytes: limits.bodyBytes, verify, handle, challenge, monitor, logger });
}
