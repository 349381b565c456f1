import { randomInt } from "node:crypto";

/** How long a code lets its stranger in, in milliseconds. */
export const PAIRING_TTL_MS: number = 10 * 60_000;

/** Without the characters people confuse. */
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LENGTH = 8;

/**
 * A code for somebody whom an owner may let in.
 *
 * @param random gives a whole number from 0 up, below what it is given
 */
export function pairingCode(random: (below: number) => number = randomInt): string {
  return Array.from({ length: LENGTH }, () => ALPHABET.charAt(random(ALPHABET.length))).join("");
}
