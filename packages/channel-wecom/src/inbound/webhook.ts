import { randomUUID } from "node:crypto";
import {
  type ChannelContext,
  type ForgedRequest,
  isRecent,
  objectAt,
  type Payload,
  parsePayload,
  textAt,
  type VerifyResult,
  type WebhookChallenge,
} from "@signalbox/channel";
import type { WecomConfig } from "../config.ts";
import { type CallbackKeys, openCallback, sealCallback } from "../encryption.ts";
import { limits } from "../limits.ts";

type WebhookContext = Pick<ChannelContext<WecomConfig>, "config" | "clock">;

/** Verifies and decrypts callbacks. Source: document/path/101033. */
export interface CallbackVerifier {
  /** Verifies a message or an event. Its signature is in the query of the URL. */
  verify(body: Uint8Array, headers: Headers, url: URL): VerifyResult<Payload>;
  /** Returns the response to the request with which WeCom checks a URL. */
  challenge(url: URL): string | ForgedRequest;
}

/** Descriptions of a key that does not fit. */
const MISMATCHES: Readonly<Record<keyof CallbackKeys, Pick<ForgedRequest, "reason" | "remedy">>> = {
  token: {
    reason: "the signature does not fit the token",
    remedy: "Compare token with the Token in the bot's API settings (API 模式 > URL 回调).",
  },
  encodingAesKey: {
    reason: "the content cannot be decrypted with encodingAesKey",
    remedy: "Compare encodingAesKey with the EncodingAESKey in the bot's API settings (API 模式 > URL 回调).",
  },
};

export function createVerifier({ config, clock }: WebhookContext): CallbackVerifier {
  const keys = getKeys(config);

  function open({ searchParams: query }: URL, encrypt: string | undefined): string | ForgedRequest {
    const signature = query.get("msg_signature");
    const timestamp = query.get("timestamp");
    const nonce = query.get("nonce");
    if (signature === null || timestamp === null || nonce === null || encrypt === undefined)
      return { kind: "forged", reason: "not signed" };
    if (!isRecent(Number(timestamp || Number.NaN) * 1_000, clock.now(), limits.signatureAgeMs))
      return { kind: "forged", reason: "outdated signature" };
    const opened = openCallback(keys, { signature, timestamp, nonce, encrypt });
    return "text" in opened ? opened.text : { kind: "forged", ...MISMATCHES[opened.wrong] };
  }

  return {
    verify(body, _headers, url) {
      const encrypt = textAt(parsePayload(Buffer.from(body).toString("utf8")) ?? {}, "encrypt");
      const text = open(url, encrypt);
      if (typeof text !== "string") return text;
      const event = parsePayload(text);
      return event === undefined
        ? { kind: "malformed", reason: "not a JSON object" }
        : { kind: "event", event };
    },
    challenge: (url) => open(url, url.searchParams.get("echostr") ?? undefined),
  };
}

/** Returns true for a message from a person, false for events such as a click or the refresh of a stream. */
export function isMessage(callback: Payload): boolean {
  const type = textAt(callback, "msgtype");
  return (
    type !== undefined &&
    type !== "event" &&
    type !== "stream" &&
    textAt(objectAt(callback, "from"), "userid") !== undefined
  );
}

/** Builds the request with which WeCom checks a URL. */
export function createChallenge({ config, clock }: WebhookContext): WebhookChallenge {
  const challenge = randomUUID();
  const timestamp = String(Math.floor(clock.now() / 1_000));
  const { signature, nonce, encrypt } = sealCallback(getKeys(config), challenge, {
    timestamp,
    nonce: randomUUID(),
  });
  return { challenge, query: { msg_signature: signature, timestamp, nonce, echostr: encrypt } };
}

function getKeys({ token = "", encodingAesKey = "" }: WecomConfig): CallbackKeys {
  return { token, encodingAesKey };
}
