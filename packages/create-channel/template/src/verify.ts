import { createHmac } from "node:crypto";
import {
  type Clock,
  equalInConstantTime,
  isRecent,
  type Payload,
  parsePayload,
  type VerifyResult,
} from "@signalbox/channel";

/** How old a signed request may be, and how far ahead. */
const toleranceMs = 300_000;

/**
 * Whether a request is the platform's: the HMAC-SHA256 of its time and its body, byte for byte, under the signing
 * secret. Nothing in it is looked at before.
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
