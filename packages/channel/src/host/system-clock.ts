import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../contract/definition.ts";

/** The longest that a timer of Node.js waits, in milliseconds: 24 days. One that is given more fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** As much of a time as a timer can wait, in milliseconds. */
export function timerMs(ms: number): number {
  return Math.min(ms, LONGEST_TIMER_MS);
}

/** The machine's own clock. It waits 24 days at most. */
export const systemClock: Clock = {
  now: () => Date.now(),
  delay: (ms, signal) => delay(timerMs(ms), undefined, signal === undefined ? {} : { signal }),
};
