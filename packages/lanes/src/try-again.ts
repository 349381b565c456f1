import { awaitedClock, type Clock, sleep } from "./clock.ts";

const PAUSE_MS = 100;
const TRIES = 3;
const NEVER = new AbortController().signal;

/**
 * Tries what a start has to do: a momentary failure must not prevent the start, a lasting one must.
 * @throws what the last of three tries throws
 */
export async function tryAgain<T>(work: () => Promise<T>, clock: Clock = awaitedClock): Promise<T> {
  for (let left = TRIES - 1; left > 0; left -= 1) {
    try {
      return await work();
    } catch {
      await sleep(clock, PAUSE_MS, NEVER);
    }
  }
  return work();
}
