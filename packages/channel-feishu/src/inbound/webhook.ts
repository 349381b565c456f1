import { randomUUID } from "node:crypto";
import {
  type ChannelContext,
  equalInConstantTime,
  isRecent,
  type Payload,
  parsePayload,
  type VerifyResult,
  type WebhookChallenge,
} from "@signalbox/channel";
import type { FeishuConfig } from "../config.ts";
import { limits } from "../limits.ts";
import { decrypt, encrypt, signatureHolds } from "./crypto.ts";
import { type EventEnvelope, readEnvelope } from "./envelope.ts";

/** Verifies that a push is from Feishu, and parses it. */
export function createVerifier(
  context: Pick<ChannelContext<FeishuConfig>, "config" | "clock">,
): (body: Uint8Array, headers: Headers) => VerifyResult<EventEnvelope> {
  const { config, clock } = context;

  return (body, headers) => {
    const signed = checkSignature(headers, body, config.encryptKey, clock.now());
    if (signed === "outdated") return forged("the signature is incomplete or outdated");
    if (signed === "wrong") return forged("the signature does not fit encryptKey", COMPARE_KEY);
    const outer = parsePayload(Buffer.from(body).toString("utf8"));
    if (outer === undefined) return { kind: "malformed", reason: "body is not a JSON object" };
    const plain = open(outer, config.encryptKey, signed);
    if (plain === undefined) return explainUnopened(outer);
    const envelope = readEnvelope(plain);
    if (envelope === undefined) {
      // Without encryptKey, no request is signed.
      if (typeof outer["encrypt"] === "string" && config.encryptKey === undefined)
        return forged("the request is encrypted, but encryptKey is not set", COMPARE_KEY);
      return signed === "absent"
        ? forged("no event and not signed")
        : { kind: "malformed", reason: "not an event" };
    }
    const { verificationToken } = config;
    if (verificationToken !== undefined && !equalInConstantTime(envelope.token ?? "", verificationToken)) {
      return forged(
        "the verification token is missing or wrong",
        `Compare verificationToken with the Verification Token ${PAGE}.`,
      );
    }
    return envelope.kind === "challenge"
      ? { kind: "answer", body: { challenge: envelope.challenge } }
      : { kind: "event", event: envelope };
  };
}

const PAGE = "under Events & Callbacks > Encryption Strategy of the app";
const COMPARE_KEY = `Compare encryptKey with the Encrypt Key ${PAGE}.`;

function forged(reason: string, remedy?: string): VerifyResult<never> {
  return remedy === undefined ? { kind: "forged", reason } : { kind: "forged", reason, remedy };
}

/** Describes a push that is not encrypted with the account's key, or that is encrypted but not signed. */
function explainUnopened(outer: Payload): VerifyResult<never> {
  if (typeof outer["encrypt"] === "string")
    return forged("not encrypted and signed with the account's encryptKey", COMPARE_KEY);
  const reason = "not encrypted, but encryptKey is set";
  return readEnvelope(outer) === undefined ? forged(reason) : forged(reason, COMPARE_KEY);
}

type Signed = "holds" | "absent" | "wrong" | "outdated";

function checkSignature(
  headers: Headers,
  body: Uint8Array,
  encryptKey: string | undefined,
  now: number,
): Signed {
  const timestamp = headers.get("x-lark-request-timestamp");
  const nonce = headers.get("x-lark-request-nonce");
  const signature = headers.get("x-lark-signature");
  if (encryptKey === undefined || signature === null) return "absent";
  if (timestamp === null || nonce === null) return "outdated";
  if (!isRecent(Number(timestamp) * 1000, now, limits.signatureAgeMs)) return "outdated";
  return signatureHolds({ timestamp, nonce, signature }, encryptKey, body) ? "holds" : "wrong";
}

/**
 * Returns the decrypted push. With an encrypt key, every push must be encrypted and signed except the challenge, which
 * Feishu does not sign. The response to it reveals nothing.
 */
function open(outer: Payload, encryptKey: string | undefined, signed: Signed): Payload | undefined {
  if (encryptKey === undefined) return outer;
  const { encrypt } = outer;
  if (typeof encrypt !== "string") return undefined;
  const text = decrypt(encrypt, encryptKey);
  const plain = text === undefined ? undefined : parsePayload(text);
  if (plain === undefined) return undefined;
  return signed === "holds" || plain["type"] === "url_verification" ? plain : undefined;
}

/** Creates the challenge that Feishu sends to a URL before it delivers events there. */
export function challengeOf({ config }: Pick<ChannelContext<FeishuConfig>, "config">): WebhookChallenge {
  const { verificationToken: token, encryptKey } = config;
  const challenge = randomUUID();
  const plain = JSON.stringify({ type: "url_verification", challenge, token });
  const body = encryptKey === undefined ? plain : JSON.stringify({ encrypt: encrypt(plain, encryptKey) });
  return { body, challenge, headers: { "content-type": "application/json" } };
}
