import { createCipheriv, createHash, randomBytes } from "node:crypto";

const BLOCK_BYTES = 32;

/** Encrypts like WeCom: AES-256-CBC, the IV is the start of the key, and the padding fills 32 bytes. */
function encrypt(key: Buffer, bytes: Uint8Array): Buffer {
  const count = BLOCK_BYTES - (bytes.byteLength % BLOCK_BYTES);
  const cipher = createCipheriv("aes-256-cbc", key, key.subarray(0, 16)).setAutoPadding(false);
  return Buffer.concat([cipher.update(bytes), cipher.update(Buffer.alloc(count, count)), cipher.final()]);
}

/** Encrypts an attachment with a key of its own. */
export function encryptFile(content: Uint8Array): { readonly bytes: Buffer; readonly aesKey: string } {
  const key = randomBytes(32);
  return { bytes: encrypt(key, content), aesKey: key.toString("base64").replace(/=+$/, "") };
}

export interface CallbackSecrets {
  readonly token: string;
  readonly encodingAesKey: string;
}

export interface SignatureOptions {
  /** Seconds since the epoch. Default: now. */
  readonly timestamp?: number;
  readonly nonce?: string;
}

/** The query and the content of an encrypted callback. Source: document/path/101033. */
export function sealCallback(
  { token, encodingAesKey }: CallbackSecrets,
  text: string,
  {
    timestamp = Math.floor(Date.now() / 1_000),
    nonce = randomBytes(8).toString("hex"),
  }: SignatureOptions = {},
): { readonly query: URLSearchParams; readonly encrypt: string } {
  const message = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(message.length);
  const key = Buffer.from(encodingAesKey, "base64");
  const sealed = encrypt(key, Buffer.concat([randomBytes(16), length, message])).toString("base64");
  const signature = createHash("sha1")
    .update([token, String(timestamp), nonce, sealed].sort().join(""))
    .digest("hex");
  const query = new URLSearchParams({ msg_signature: signature, timestamp: String(timestamp), nonce });
  return { query, encrypt: sealed };
}
