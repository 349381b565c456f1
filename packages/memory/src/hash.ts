import { createHash } from "node:crypto";

/** Returns the SHA-256 hash of a text. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
