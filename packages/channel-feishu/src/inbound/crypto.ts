import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { equalInConstantTime } from "@signalbox/channel";

/**
 * Returns true if `signature` is the hex SHA-256 of timestamp, nonce, encrypt key and body. Source: the open platform's
 * page on receiving events, "signature verification".
 */
export function signatureHolds(
  parts: { readonly timestamp: string; readonly nonce: string; readonly signature: string },
  encryptKey: string,
  body: Uint8Array,
): boolean {
  const expected = createHash("sha256")
    .update(parts.timestamp + parts.nonce + encryptKey)
    .update(body)
    .digest("hex");
  return equalInConstantTime(expected, parts.signature);
}

/**
 * Decrypts an event: base64 of a 16-byte initialization vector and AES-256-CBC with the SHA-256 of the encrypt key.
 * Returns `undefined` for anything else, without a reason.
 */
export function decrypt(encrypted: string, encryptKey: string): string | undefined {
  const bytes = Buffer.from(encrypted, "base64");
  if (bytes.length < 32 || bytes.length % 16 !== 0) return undefined;
  const decipher = createDecipheriv("aes-256-cbc", keyOf(encryptKey), bytes.subarray(0, 16));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(16)), decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}

/** Encrypts a text in the format of `decrypt`. */
export function encrypt(text: string, encryptKey: string): string {
  const vector = randomBytes(16);
  const cipher = createCipheriv("aes-256-cbc", keyOf(encryptKey), vector);
  return Buffer.concat([vector, cipher.update(text, "utf8"), cipher.final()]).toString("base64");
}

function keyOf(encryptKey: string): Buffer {
  return createHash("sha256").update(encryptKey).digest();
}
