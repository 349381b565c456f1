import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** Returns the SHA-256 of a token in hexadecimal, the only form in which tokens are stored. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** Compares two secrets in constant time. */
export function isSameSecret(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(hashToken(a)), Buffer.from(hashToken(b)));
}

/** Creates a secret of 256 random bits, as 43 base64url characters. */
export function createSecret(): string {
  return randomBytes(32).toString("base64url");
}
