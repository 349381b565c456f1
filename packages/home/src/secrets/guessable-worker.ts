import { parentPort, workerData } from "node:worker_threads";
import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import { adjacencyGraphs, dictionary } from "@zxcvbn-ts/language-common";

/**
 * Minimum number of guesses, as a power of ten. At fifty guesses a second, the server's limit for an address, 10^14
 * take 60,000 years.
 */
const GUESSES_LOG10 = 14;
/** Further characters cannot make a secret weaker. */
const MAX_CHECKED_CHARS = 64;

const estimator = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
const secrets: readonly string[] = workerData;
parentPort?.postMessage(
  secrets.filter(
    (secret) => estimator.check(secret.slice(0, MAX_CHECKED_CHARS)).guessesLog10 < GUESSES_LOG10,
  ),
);
