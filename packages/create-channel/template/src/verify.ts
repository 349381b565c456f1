import { createHmac } from "node:crypto";
import {
  type Clock,
  equalInConstantTime,
  isRecent,
  type Payload,
  parsePayload,
  type VerifyResult,
} from "@signalbox/channel";

/** Maximum difference between the signed time and ours, in milliseconds. */
const toleranceMs = 300_000;

/**
 * Creates the `verify` function of the webhook. The signature is the HMAC-SHA256 of the timestamp and the unchanged
 * body under the signing secret. It is checked before the body is parsed.
 */
export function createVerifier(
  signingSecret: string,
  clock: Clock,
): (body: Uint8Array, headers: Headers) => VerifyResult<Payload> {
  return (body, headers) => {
    const timestamp = headers.get("x-chat-timestamp") ?? "";
    const signature = headers.get("x-chat-signature") ?? "";
    const expected = createHmac("sha256", signingSecret).update(`${timestamp}.`).update(body).digest("hex");
    if (!equalInConstantTime(signature, expected))
      return { kind: "forged", reason: "the signature is missing or wrong" };
    if (!isRecent(Number(timestamp) * 1_000, clock.now(), toleranceMs))
      return { kind: "forged", reason: "the request is too old" };
    const payload = parsePayload(new TextDecoder().decode(body));
    if (payload === undefined) return { kind: "malformed", reason: "not an event" };
    return payload["type"] === "challenge"
      ? { kind: "answer", body: { challenge: payload["challenge"] } }
      : { kind: "event", event: payload };
  };
}
