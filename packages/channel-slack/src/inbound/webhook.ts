import { createHmac, randomUUID } from "node:crypto";
import {
  type ChannelContext,
  equalInConstantTime,
  isRecent,
  type VerifyResult,
  type WebhookChallenge,
} from "@signalbox/channel";
import type { SlackConfig } from "../config.ts";
import { limits } from "../limits.ts";
import { type Envelope, readRequest } from "./envelope.ts";

type WebhookContext = Pick<ChannelContext<SlackConfig>, "config" | "clock">;

/**
 * Creates the function that verifies and reads requests. Retries are handled like first attempts, because the first
 * attempt may have failed before the event was stored.
 */
export function createVerifier(
  context: WebhookContext,
): (body: Uint8Array, headers: Headers) => VerifyResult<Envelope> {
  const { config, clock } = context;

  return (body, headers) => {
    const timestamp = headers.get("x-slack-request-timestamp") ?? "";
    if (!isRecent(Number(timestamp || Number.NaN) * 1000, clock.now(), limits.signatureAgeMs))
      return { kind: "forged", reason: "missing or outdated timestamp" };
    const signature = headers.get("x-slack-signature");
    if (signature === null) return { kind: "forged", reason: "not signed" };
    if (!isSignatureValid({ timestamp, signature, body }, config.signingSecret))
      return {
        kind: "forged",
        reason: "the signature does not fit signingSecret",
        remedy: "Compare signingSecret with the Signing Secret under Basic Information of the app.",
      };
    const request = readRequest(Buffer.from(body).toString("utf8"), headers.get("content-type") ?? "");
    if (request === undefined) return { kind: "malformed", reason: "not an event" };
    switch (request.kind) {
      case "challenge":
        return { kind: "answer", body: { challenge: request.challenge } };
      case "ping":
        return { kind: "answer", body: {} };
      default:
        return { kind: "event", event: request };
    }
  };
}

interface SignedRequest {
  readonly timestamp: string;
  readonly signature: string;
  readonly body: Uint8Array;
}

/** Source: "Verifying requests from Slack". */
function isSignatureValid(
  { timestamp, signature, body }: SignedRequest,
  secret: string | undefined,
): boolean {
  if (secret === undefined) return false;
  return equalInConstantTime(sign(timestamp, body, secret), signature);
}

function sign(timestamp: string, body: Uint8Array | string, secret: string): string {
  return `v0=${createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest("hex")}`;
}

/** Builds the URL verification request that Slack sends before it delivers events. Signed with the account's secret. */
export function createChallenge({ config, clock }: WebhookContext): WebhookChallenge {
  const challenge = randomUUID();
  const body = JSON.stringify({ type: "url_verification", challenge });
  const timestamp = String(Math.floor(clock.now() / 1_000));
  const signature = sign(timestamp, body, config.signingSecret ?? "");
  return {
    body,
    challenge,
    headers: {
      "content-type": "application/json",
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": signature,
    },
  };
}
