import { createHash, randomUUID } from "node:crypto";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The same `length` (32 at most) letters and digits for the same text, always. */
export function digestId(text: string, length: number): string {
  let id = "";
  for (const byte of createHash("sha256").update(text).digest().subarray(0, length)) id += BASE62[byte % 62];
  return id;
}

/**
 * The id of a call that its vendor gave none, by its place in the answer; the same at each replay of one with an id.
 */
export function callIdFrom(responseId: string | undefined, place: number): string {
  return `call_${digestId(responseId === undefined ? randomUUID() : `${responseId}:${place}`, 24)}`;
}
