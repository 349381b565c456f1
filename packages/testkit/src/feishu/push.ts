import { createCipheriv, createHash, randomBytes } from "node:crypto";
import { isRaw } from "../raw.ts";

export interface PushOptions {
  /** Added to the event if it has no token. */
  readonly token?: string;
  /** Encrypts and signs the event. */
  readonly encryptKey?: string;
  /** Seconds since the epoch, for the signature. Default: now. */
  readonly timestamp?: number | string;
  readonly nonce?: string;
  /** Initialization vector, 16 bytes. Default: random. */
  readonly iv?: Uint8Array;
}

/** A request in Feishu's format. */
export interface Push {
  readonly method: "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Encrypts with AES-256-CBC, using the SHA-256 hash of the key. Returns base64 that starts with the initialization
 * vector.
 */
export function encrypt(text: string, key: string, iv: Uint8Array = randomBytes(16)): string {
  const cipher = createCipheriv("aes-256-cbc", createHash("sha256").update(key).digest(), iv);
  return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final()]).toString("base64");
}

/** Returns SHA-256 over timestamp, nonce, key and body. */
export function sign(timestamp: string, nonce: string, encryptKey: string, body: string): string {
  return createHash("sha256")
    .update(timestamp + nonce + encryptKey + body)
    .digest("hex");
}

/** Prepares an event as Feishu does: adds the token, and encrypts and signs it if a key is set. */
export function push(event: unknown, options: PushOptions = {}): Push {
  const plain = JSON.stringify(withToken(event, options.token));
  const headers: Record<string, string> = { "content-type": "application/json; charset=utf-8" };
  if (options.encryptKey === undefined) return { method: "POST", headers, body: plain };
  const body = JSON.stringify({ encrypt: encrypt(plain, options.encryptKey, options.iv) });
  const timestamp = String(options.timestamp ?? Math.floor(Date.now() / 1000));
  const nonce = options.nonce ?? randomBytes(8).toString("hex");
  return {
    method: "POST",
    headers: {
      ...headers,
      "x-lark-request-timestamp": timestamp,
      "x-lark-request-nonce": nonce,
      "x-lark-signature": sign(timestamp, nonce, options.encryptKey, body),
    },
    body,
  };
}

function withToken(event: unknown, token: string | undefined): unknown {
  if (token === undefined || !isRaw(event)) return event;
  const header = event["header"];
  if (isRaw(header)) return { ...event, header: { token, ...header } };
  return { token, ...event };
}
