import { Worker } from "node:worker_threads";

/** Form of a token created by the gateway: 256 random bits, which need no estimate. */
const GENERATED_TOKEN = /^[\w-]{43}$/;
const MIN_DISTINCT_CHARS = 16;

/**
 * Returns the secrets that are easy to guess: words, patterns, repetitions. zxcvbn runs in a worker thread, to free the
 * 35 MB of its dictionaries afterwards.
 */
export async function findGuessableSecrets(secrets: readonly string[]): Promise<ReadonlySet<string>> {
  const chosen = secrets.filter(
    (secret) => !GENERATED_TOKEN.test(secret) || new Set(secret).size < MIN_DISTINCT_CHARS,
  );
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
