import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../contract/definition.ts";

/** The longest delay of a Node.js timer: 24 days. A longer delay fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Limits a delay to what a timer supports. */
export function timerMs(ms: number): number {
  return Math.min(ms, MAX_TIMER_MS);
}

/** The machine's clock. Delays are limited to 24 days. */
export const systemClock: Clock = {
  now: () => Date.now(),
  delay: (ms, signal) => delay(timerMs(ms), undefined, { signal }),
};
