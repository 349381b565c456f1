import { randomInt } from "node:crypto";

/** How long a code lets its stranger in, in milliseconds. */
export const PAIRING_TTL_MS: number = 10 * 60_000;

/** Without the characters people confuse. */
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LENGTH = 8;

/**
 * A code for a person whom an owner may let in.
 * @param random returns a whole number from 0 up, below its argument
 */
export function pairingCode(random: (below: number) => number = randomInt): string {
  return Array.from({ length: LENGTH }, () => ALPHABET.charAt(random(ALPHABET.length))).join("");
}
