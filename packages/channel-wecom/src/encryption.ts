import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { ChannelError, equalInConstantTime } from "@signalbox/channel";

/**
 * WeCom pads to a multiple of 32 bytes although the block size of AES is 16. Source: document/path/101033 and
 * `decryptFile` of `@wecom/aibot-node-sdk` 1.0.7.
 */
const BLOCK_BYTES = 32;
const KEY_BYTES = 32;
/** Random bytes and the length before the message in a callback. */
const HEAD_BYTES = 20;

function decodeKey(text: string): Buffer {
  const key = Buffer.from(text, "base64");
  if (key.length !== KEY_BYTES)
    throw new ChannelError("invalid", "WeCom: the key of the attachment is invalid");
  return key;
}

function createDecipher(key: Buffer) {
  return createDecipheriv("aes-256-cbc", key, key.subarray(0, 16)).setAutoPadding(false);
}

/** Returns the bytes without their padding, or `undefined` if it is invalid. */
function removePadding(bytes: Buffer): Buffer | undefined {
  const count = bytes.at(-1) ?? 0;
  if (count < 1 || count > BLOCK_BYTES || count > bytes.length) return undefined;
  const end = bytes.length - count;
  return bytes.subarray(end).every((byte) => byte === count) ? bytes.subarray(0, end) : undefined;
}

/** Creates a stream that decrypts an attachment. It fails with `invalid` if the bytes or the key are wrong. */
export function createDecryption(aesKey: string): TransformStream<Uint8Array, Uint8Array> {
  const decipher = createDecipher(decodeKey(aesKey));
  // The end of the stream is only known when it has been read, so the bytes that may be padding are held back.
  let held: Buffer = Buffer.alloc(0);
  const invalid = () => new ChannelError("invalid", "WeCom: the attachment cannot be decrypted");
  return new TransformStream({
    transform(chunk, controller) {
      held = Buffer.concat([held, decipher.update(chunk)]);
      const ready = held.length - BLOCK_BYTES;
      if (ready <= 0) return;
      controller.enqueue(new Uint8Array(held.subarray(0, ready)));
      held = held.subarray(ready);
    },
    flush(controller) {
      let last: Buffer | undefined;
      try {
        last = removePadding(Buffer.concat([held, decipher.final()]));
      } catch {
        // The length is not a multiple of the block size.
      }
      if (last === undefined) controller.error(invalid());
      else if (last.length > 0) controller.enqueue(new Uint8Array(last));
    },
  });
}

/** The key and token of encrypted callbacks. */
export interface CallbackKeys {
  readonly token: string;
  readonly encodingAesKey: string;
}

/** The signed parts of a callback. */
export interface SignedCallback {
  readonly signature: string;
  readonly timestamp: string;
  readonly nonce: string;
  readonly encrypt: string;
}

function sign(
  { token }: Pick<CallbackKeys, "token">,
  { timestamp, nonce, encrypt }: Omit<SignedCallback, "signature">,
) {
  return createHash("sha1").update([token, timestamp, nonce, encrypt].toSorted().join("")).digest("hex");
}

/**
 * Verifies and decrypts a callback. Source: document/path/101033.
 *
 * @returns its text, or the key that does not fit: the token if the signature is wrong, otherwise the encoding key
 */
export function openCallback(
  keys: CallbackKeys,
  callback: SignedCallback,
): { readonly text: string } | { readonly wrong: keyof CallbackKeys } {
  if (!equalInConstantTime(sign(keys, callback), callback.signature)) return { wrong: "token" };
  const text = decryptCallback(keys, callback);
  return text === undefined ? { wrong: "encodingAesKey" } : { text };
}

function decryptCallback(keys: CallbackKeys, callback: SignedCallback): string | undefined {
  try {
    const decipher = createDecipher(decodeKey(keys.encodingAesKey));
    const bytes = removePadding(
      Buffer.concat([decipher.update(callback.encrypt, "base64"), decipher.final()]),
    );
    if (bytes === undefined || bytes.length < HEAD_BYTES) return undefined;
    const end = HEAD_BYTES + bytes.readUInt32BE(16);
    // An id follows for apps of third parties. It is empty for a company's own bots.
    return end > bytes.length ? undefined : bytes.toString("utf8", HEAD_BYTES, end);
  } catch {
    return undefined;
  }
}

/** Encrypts and signs a text like WeCom, to check the account's own webhook. */
export function sealCallback(
  keys: CallbackKeys,
  text: string,
  { timestamp, nonce }: Pick<SignedCallback, "timestamp" | "nonce">,
): SignedCallback {
  const message = Buffer.from(text);
  const head = Buffer.alloc(HEAD_BYTES);
  randomBytes(16).copy(head);
  head.writeUInt32BE(message.length, 16);
  const count = BLOCK_BYTES - ((HEAD_BYTES + message.length) % BLOCK_BYTES);
  const key = decodeKey(keys.encodingAesKey);
  const cipher = createCipheriv("aes-256-cbc", key, key.subarray(0, 16)).setAutoPadding(false);
  const padded = Buffer.concat([head, message, Buffer.alloc(count, count)]);
  const encrypt = Buffer.concat([cipher.update(padded), cipher.final()]).toString("base64");
  return { timestamp, nonce, encrypt, signature: sign(keys, { timestamp, nonce, encrypt }) };
}
