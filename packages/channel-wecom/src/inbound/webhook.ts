import { randomUUID } from "node:crypto";
import {
  type ChannelContext,
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
  /** Returns the answer to the request with which WeCom checks a URL, or `undefined` if it is forged. */
  challenge(url: URL): string | undefined;
}

export function createVerifier({ config, clock }: WebhookContext): CallbackVerifier {
  const keys = getKeys(config);

  function open(url: URL, encrypt: string): string | undefined {
    const { searchParams: query } = url;
    const [signature, timestamp, nonce] = ["msg_signature", "timestamp", "nonce"].map(
      (name) => query.get(name) ?? "",
    );
    if (signature === undefined || timestamp === undefined || nonce === undefined) return undefined;
    if (!isRecent(Number(timestamp || Number.NaN) * 1_000, clock.now(), limits.signatureAgeMs))
      return undefined;
    return openCallback(keys, { signature, timestamp, nonce, encrypt });
  }

  return {
    verify(body, _headers, url) {
      const encrypt = textAt(parsePayload(Buffer.from(body).toString("utf8")) ?? {}, "encrypt");
      const text = encrypt === undefined ? undefined : open(url, encrypt);
      if (text === undefined) return { kind: "forged", reason: "invalid or outdated signature" };
      const event = parsePayload(text);
      return event === undefined
        ? { kind: "malformed", reason: "not a JSON object" }
        : { kind: "event", event };
    },
    challenge: (url) => open(url, url.searchParams.get("echostr") ?? ""),
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
