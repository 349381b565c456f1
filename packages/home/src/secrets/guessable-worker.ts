import { parentPort, workerData } from "node:worker_threads";
import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import { adjacencyGraphs, dictionary } from "@zxcvbn-ts/language-common";

/** Guesses that a secret has to stand: at fifty a second, which the server looks at from one address, 60,000 years. */
const GUESSES_LOG10 = 14;
/** What comes behind makes a secret no weaker. */
const LOOKED_AT = 64;

const estimator = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
const secrets: readonly string[] = workerData;
parentPort?.postMessage(
  secrets.filter((secret) => estimator.check(secret.slice(0, LOOKED_AT)).guessesLog10 < GUESSES_LOG10),
);
