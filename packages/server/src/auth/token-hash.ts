import { createHash } from "node:crypto";

/** What a token is kept as: SHA-256, in hexadecimal. */
export function tokenHash(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
