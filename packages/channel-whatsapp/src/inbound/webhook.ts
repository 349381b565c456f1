import { createHmac } from "node:crypto";
import {
  type ChannelContext,
  createWebhook,
  equalInConstantTime,
  type HandleResult,
  type Payload,
  parsePayload,
  type ReadBody,
  type VerifyResult,
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
): (request: Request, read?: ReadBody) => Promise<Response> {
  function verify(body: Uint8Array, headers: Headers): VerifyResult<Payload> {
    const expected = `sha256=${createHmac("sha256", config.appSecret).update(body).digest("hex")}`;
    if (!equalInConstantTime(headers.get("x-hub-signature-256") ?? "", expected))
      return { kind: "forged", reason: "missing or wrong signature" };
    const payload = parsePayload(new TextDecoder().decode(body));
    return payload === undefined
      ? { kind: "malformed", reason: "not a JSON object" }
      : { kind: "event", event: payload };
  }

  function challenge({ searchParams }: URL): string | undefined {
    const token = searchParams.get("hub.verify_token") ?? "";
    const isOurs = equalInConstantTime(token, config.verifyToken);
    const isChallenge = searchParams.get("hub.mode") === "subscribe";
    return isOurs && isChallenge ? (searchParams.get("hub.challenge") ?? undefined) : undefined;
  }

  return createWebhook({ maxBytes: limits.bodyBytes, verify, handle, challenge, logger });
}
