import { createHash } from "node:crypto";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * Returns letters and digits derived from a text.
 *
 * @param length at most 32
 */
export function digestId(text: string, length: number): string {
  let id = "";
  for (const byte of createHash("sha256").update(text).digest().subarray(0, length)) id += BASE62[byte % 62];
  return id;
}
