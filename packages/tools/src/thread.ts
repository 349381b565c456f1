import { Worker } from "node:worker_threads";
import { createSemaphore } from "./semaphore.ts";

/** Of the whole process: each may take 288 MB and a processor. */
const parsers = createSemaphore(2);

/** The file of a thread beside the one that names it by its `import.meta.url`, built or as it is written. */
export function threadFile(name: string, beside: string): URL {
  return new URL(`./${name}${beside.endsWith(".ts") ? ".ts" : ".js"}`, beside);
}

/**
 * What others have written can be made to keep parsers busy or to exhaust memory or stack, so they work in a thread of
 * their own, where that harms nobody. Undefined where that came to nothing, or not before the signal ended.
 *
 * @param file posts one message: what it made of its `workerData`
 */
export async function inThread(file: URL, work: unknown, signal: AbortSignal): Promise<unknown> {
  const leave = await parsers.acquire(signal).catch(() => undefined);
  if (leave === undefined) return undefined;
  let worker: Worker;
  try {
    worker = startWorker(file, work);
  } catch (error) {
    leave();
    throw error;
  }
  return new Promise((resolve) => {
    const end = (made: unknown): void => {
      signal.removeEventListener("abort", onAbort);
      resolve(made);
      // Its memory is in use until it is gone.
      void worker.terminate().finally(leave);
    };
    const onAbort = (): void => end(undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    worker.once("message", end);
    worker.once("error", () => end(undefined));
    worker.once("exit", () => end(undefined));
    if (signal.aborted) onAbort();
  });
}

function startWorker(file: URL, workerData: unknown): Worker {
  return new Worker(file, {
    workerData,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 },
  });
}
