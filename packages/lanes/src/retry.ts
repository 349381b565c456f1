import { type Clock, keepAliveClock, sleep } from "./clock.ts";

const PAUSE_MS = 100;
const ATTEMPTS = 3;
const NEVER = new AbortController().signal;

/**
 * Calls `work` up to three times, with delays of 100 ms. Use it for steps that a start requires, so that only a
 * persistent failure prevents the start.
 *
 * @throws the error of the third attempt
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
