import { setTimeout as delay } from "node:timers/promises";

const PAUSE_MS = 100;

/**
 * What a start has to write, such as what is no longer open: a disk that was full for a moment is no reason to refuse
 * to start, and one that stays full is.
 *
 * @throws what the last of `tries` throws
 */
export async function tryAgain<T>(work: () => Promise<T>, tries = 3): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (tries <= 1) throw error;
    await delay(PAUSE_MS);
    return tryAgain(work, tries - 1);
  }
}
