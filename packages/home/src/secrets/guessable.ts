import { Worker } from "node:worker_threads";

/** As the gateway makes them: 256 bits, which need no estimate. */
const MADE = /^[\w-]{43}$/;
const MADE_DIFFERENT = 16;

/**
 * Those of the secrets that can be guessed: words, patterns, repetitions. Estimated by zxcvbn, in a thread, since its
 * dictionaries take 35 MB that nobody needs afterwards.
 */
export async function guessableSecrets(secrets: readonly string[]): Promise<ReadonlySet<string>> {
  const chosen = secrets.filter((secret) => !MADE.test(secret) || new Set(secret).size < MADE_DIFFERENT);
  if (chosen.length === 0) return new Set();
  const file = import.meta.url.endsWith(".ts") ? "./guessable-worker.ts" : "./guessable-worker.js";
  const worker = new Worker(new URL(file, import.meta.url), { workerData: chosen, env: {}, execArgv: [] });
  try {
    return await new Promise((resolve, reject) => {
      worker.once("message", (weak: readonly string[]) => resolve(new Set(weak)));
      worker.once("error", reject);
      worker.once("exit", (code) => reject(new Error(`the estimate of secrets ended with ${code}`)));
    });
  } finally {
    await worker.terminate();
  }
}
