import { type Clock, keepAliveClock, sleep } from "./clock.ts";

const PAUSE_MS = 100;
const ATTEMPTS = 3;
const NEVER = new AbortController().signal;

/**
 * Calls `work` up to three times, with pauses of 100 ms. Use it for what a start needs, so that only a lasting failure
 * prevents the start.
 *
 * @throws what the third attempt throws
 */
export async function retry<T>(work: () => Promise<T>, clock: Clock = keepAliveClock): Promise<T> {
  for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
    try {
      return await work();
    } catch {
      await sleep(clock, PAUSE_MS, NEVER);
    }
  }
  return work();
}
