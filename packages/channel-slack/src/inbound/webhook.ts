import { createHmac } from "node:crypto";
import { type ChannelContext, equalInConstantTime, isRecent, type Verified } from "@signalbox/channel";
import type { SlackConfig } from "../config.ts";
import { limits } from "../limits.ts";
import { type Envelope, readRequest } from "./envelope.ts";

/**
 * Checks that a request is Slack's, and reads it. That it is delivered again, as its headers say, is no reason to leave
 * it out: the first try may have died before it was kept.
 */
export function createVerifier(
  context: Pick<ChannelContext<SlackConfig>, "config" | "clock">,
): (body: Uint8Array, headers: Headers) => Verified<Envelope> {
  const { config, clock } = context;

  return (body, headers) => {
    const timestamp = headers.get("x-slack-request-timestamp") ?? "";
    if (!isRecent(Number(timestamp || Number.NaN) * 1000, clock.now(), limits.signatureAgeMs))
      return { kind: "forged", reason: "the request has no time, or an old one" };
    const signature = headers.get("x-slack-signature") ?? "";
    if (!signatureHolds({ timestamp, signature, body }, config.signingSecret))
      return { kind: "forged", reason: "the signature does not hold" };
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

/** Source: Slack's page on verifying requests. */
function signatureHolds({ timestamp, signature, body }: SignedRequest, secret: string | undefined): boolean {
  if (secret === undefined) return false;
  const expected = createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest("hex");
  return equalInConstantTime(`v0=${expected}`, signature);
}
