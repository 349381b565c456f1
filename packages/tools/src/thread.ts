import { Worker } from "node:worker_threads";
import type { Semaphore } from "./semaphore.ts";
import type { Role } from "./types.ts";

/**
 * Returns the URL of a worker file next to a module: `.ts` if the module is TypeScript source, otherwise `.js`. Pass
 * the module's `import.meta.url`.
 */
export function getWorkerFile(name: string, moduleUrl: string): URL {
  return new URL(`./${name}${moduleUrl.endsWith(".ts") ? ".ts" : ".js"}`, moduleUrl);
}

export interface ThreadOptions {
  /** Limits the number of concurrent threads. Each may use 288 MB of memory and one core. */
  readonly places: Semaphore;
  /** Ends the thread, or the wait for it to start. */
  readonly signal: AbortSignal;
  /** Time limit in milliseconds, measured from the start of the thread. Default: none. */
  readonly timeoutMs?: number;
  /** The role that the work is for. Owners' work does not wait behind that of others. Default: `member`. */
  readonly role?: Role;
}

/** The message that a thread posted, or the reason why it did not post one. */
export type ThreadOutcome =
  | { readonly kind: "done"; readonly value: unknown }
  | { readonly kind: "stopped" | "timeout" | "failed" };

/**
 * Runs a worker thread with time and memory limits. Untrusted text can keep a parser busy or exhaust its memory or
 * stack. In a thread, this does not affect the process.
 *
 * @param file a worker that processes its `workerData` and posts one message with the result
 */
export async function runInThread(
  file: URL,
  workerData: unknown,
  { places, signal, timeoutMs, role }: ThreadOptions,
): Promise<ThreadOutcome> {
  const release = await places.acquire(signal, role).catch(() => undefined);
  if (release === undefined) return { kind: "stopped" };
  let worker: Worker;
  try {
    worker = startWorker(file, workerData);
  } catch (error) {
    release();
    throw error;
  }
  return new Promise((resolve) => {
    const end = (outcome: ThreadOutcome): void => {
      signal.removeEventListener("abort", onAbort);
      clearTimeout(timer);
      resolve(outcome);
      // Release the semaphore permit only after the thread has released its memory.
      void worker.terminate().finally(release);
    };
    const onAbort = (): void => end({ kind: "stopped" });
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => end({ kind: "timeout" }), timeoutMs);
    signal.addEventListener("abort", onAbort, { once: true });
    worker.once("message", (value) => end({ kind: "done", value }));
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
