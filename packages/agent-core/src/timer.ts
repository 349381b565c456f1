/** Milliseconds; what a timer of Node holds. It fires at once for more. */
const LONGEST = 2_147_483_647;

/** A delay that a timer can wait for: what is longer than 24 days is 24 days. */
export function timerMs(ms: number): number {
  return Math.min(ms, LONGEST);
}
