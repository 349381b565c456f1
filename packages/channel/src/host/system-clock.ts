import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../contract/definition.ts";

/** Maximum delay of a Node.js timer, about 24 days. A longer delay fires immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Caps a delay at the maximum that timers support. */
export function timerMs(ms: number): number {
  return Math.min(ms, MAX_TIMER_MS);
}

/** The system clock. Delays are capped at 24 days. */
export const systemClock: Clock = {
  now: () => Date.now(),
  delay: (ms, signal) => delay(timerMs(ms), undefined, { signal }),
};
