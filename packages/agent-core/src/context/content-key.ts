const FNV_PRIME = 0x01000193;
const FNV_OFFSET = 0x811c9dc5;

/**
 * A key for a text: two FNV-1a hashes, forwards and backwards, and the length. Good enough to tell the chunks of one's
 * own conversations apart without a cryptographic module; no protection against somebody who looks for collisions.
 */
export function contentKey(text: string): string {
  let forward = FNV_OFFSET;
  let backward = FNV_OFFSET;
  for (let i = 0, j = text.length - 1; j >= 0; i++, j--) {
    forward = Math.imul(forward ^ text.charCodeAt(i), FNV_PRIME);
    backward = Math.imul(backward ^ text.charCodeAt(j), FNV_PRIME);
  }
  return [forward >>> 0, backward >>> 0, text.length].map((part) => part.toString(36)).join("-");
}
