import { createHash } from "node:crypto";
import { canonicalJson } from "@signalbox/agent-core";

/** Returns the SHA-256 of bytes in hexadecimal. */
export function hashBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Returns the SHA-256 of the canonical JSON of a value in hexadecimal. */
export function hashJson(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}
