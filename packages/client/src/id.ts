const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * Creates a ULID for a conversation or a `send` frame. ULIDs have 26 characters and sort by time.
 *
 * @param now milliseconds since the epoch
 * @param random 16 random bytes
 */
export function newId(
  now: number = Date.now(),
  random: Uint8Array = crypto.getRandomValues(new Uint8Array(16)),
): string {
  let time = "";
  for (let rest = now, digit = 0; digit < 10; digit += 1, rest = Math.floor(rest / 32)) {
    time = ALPHABET.charAt(rest % 32) + time;
  }
  return time + Array.from(random.subarray(0, 16), (byte) => ALPHABET.charAt(byte % 32)).join("");
}
