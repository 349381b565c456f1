import { randomInt } from "node:crypto";

/** Validity of a pairing code, in milliseconds. */
export const PAIRING_TTL_MS: number = 10 * 60_000;

/** Letters and digits without I, O, 0 and 1, which are easily confused. */
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LENGTH = 8;

/**
 * Creates a random code of eight characters that an owner can use to approve an unknown sender.
 *
 * @param random returns an integer from 0 up to, but not including, its argument. Default: `crypto.randomInt`
 */
export function createPairingCode(random: (below: number) => number = randomInt): string {
  return Array.from({ length: LENGTH }, () => ALPHABET.charAt(random(ALPHABET.length))).join("");
}
