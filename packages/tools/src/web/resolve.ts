import { lookup } from "node:dns/promises";
import { createSemaphore } from "../semaphore.ts";

/** All addresses of a host name. What is under way may go on after the signal. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Asks for two names at a time; a name counts until its answer is there, whoever still waits for it. */
export function createResolve(ask: (host: string) => Promise<readonly string[]>): Resolve {
  const lookups = createSemaphore(2);
  return async (host, signal) => {
    const leave = await lookups.acquire(signal);
    try {
      signal.throwIfAborted();
      return await ask(host);
    } finally {
      leave();
    }
  };
}

/**
 * The system's resolver. Each question takes one of the process's four threads for such work, also for as long as a
 * name server is silent, and the connections of everything else need one too.
 */
export const systemResolve: Resolve = createResolve(async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address),
);
