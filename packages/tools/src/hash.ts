import { createHash } from "node:crypto";
import { canonicalJson } from "@signalbox/agent-core";

/** SHA-256 of the canonical JSON of a value, as hexadecimal digits. */
export function hashOf(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}
