const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;

/** Milliseconds before attempt `attempts + 1`: doubling from one second to five minutes, half of it by chance. */
export function backoffMs(attempts: number, random: () => number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, attempts - 1));
  return Math.round(full / 2 + (full / 2) * random());
}
