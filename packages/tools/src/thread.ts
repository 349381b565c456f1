import { Worker } from "node:worker_threads";
import type { Semaphore } from "./semaphore.ts";

/** The file of a thread beside the one that names it by its `import.meta.url`, built or as it is written. */
export function threadFile(name: string, beside: string): URL {
  return new URL(`./${name}${beside.endsWith(".ts") ? ".ts" : ".js"}`, beside);
}

export interface ThreadOptions {
  /** How many such threads there may be at a time: each may take 288 MB and a processor. */
  readonly places: Semaphore;
  /** Ends it, also while it waits for its place. */
  readonly signal: AbortSignal;
  /** How long it may work once it has its place, in milliseconds. Default: until the signal ends. */
  readonly timeoutMs?: number;
}

/** What a thread made of its work, or why that came to nothing. */
export type ThreadOutcome =
  | { readonly kind: "made"; readonly value: unknown }
  | { readonly kind: "stopped" | "too-long" | "failed" };

/**
 * Others can write text that keeps parsers busy or exhausts memory or stack, so parsers work in a thread of their own,
 * where that does no harm.
 * @param file posts one message: what it made of its `workerData`
 */
export async function inThread(file: URL, work: unknown, options: ThreadOptions): Promise<ThreadOutcome> {
  const { places, signal, timeoutMs } = options;
  const leave = await places.acquire(signal).catch(() => undefined);
  if (leave === undefined) return { kind: "stopped" };
  let worker: Worker;
  try {
    worker = startWorker(file, work);
  } catch (error) {
    leave();
    throw error;
  }
  return new Promise((resolve) => {
    const end = (outcome: ThreadOutcome): void => {
      signal.removeEventListener("abort", onAbort);
      clearTimeout(timer);
      resolve(outcome);
      // Its memory is in use until it is gone.
      void worker.terminate().finally(leave);
    };
    const onAbort = (): void => end({ kind: "stopped" });
    const timer =
      timeoutMs === undefined ? undefined : setTimeout(() => end({ kind: "too-long" }), timeoutMs);
    signal.addEventListener("abort", onAbort, { once: true });
    worker.once("message", (value) => end({ kind: "made", value }));
    worker.once("error", () => end({ kind: "failed" }));
    worker.once("exit", () => end({ kind: "failed" }));
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
