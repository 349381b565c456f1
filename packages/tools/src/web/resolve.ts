import { lookup } from "node:dns/promises";
import { createSemaphore } from "../semaphore.ts";

/** Returns all addresses of a host name. A lookup in progress continues even after the signal is aborted. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Creates a resolver with a limit on concurrent lookups. A lookup counts until it ends, even if its caller has stopped
 * waiting.
 *
 * @param maxLookups default: 2
 */
export function createResolve(
  ask: (host: string) => Promise<readonly string[]>,
  maxLookups: number = 2,
): Resolve {
  const lookups = createSemaphore(maxLookups);
  return async (host, signal) => {
    const release = await lookups.acquire(signal);
    try {
      signal.throwIfAborted();
      return await ask(host);
    } finally {
      release();
    }
  };
}

/**
 * Uses the system's resolver. Each lookup occupies one of the four threads in the process's thread pool until the name
 * server responds, and all other connections also need these threads.
 */
export const systemResolve: Resolve = createResolve(async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address),
);
