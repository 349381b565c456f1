import { setFlagsFromString } from "node:v8";

/** What each compiler of the engine may take. Switched off instead, it would have functions wait far longer later. */
const FILTERS = ["sparkplug-filter", "maglev-filter", "turbo-filter"];

let isOptimising = true;
let optimisedAtStart = true;

/**
 * Has the engine optimise nothing in the first `ms` of a process. A start runs most of its code a few times, so there
 * is nothing to gain, and what the compilers make and touch of themselves is 10 MB of a service's memory.
 */
export function optimiseAfter(ms: number): void {
  optimisedAtStart = false;
  optimise(false);
  setTimeout(optimise, ms, true).unref();
  // What Node.js itself keeps, it writes behind this.
  process.once("exit", () => optimise(false));
}

/** The engine takes compiled code only with the flags it was written with: both are done with those of the start. */
export function withFlagsOfStart<R>(work: () => R): R {
  const before = isOptimising;
  optimise(optimisedAtStart);
  try {
    return work();
  } finally {
    optimise(before);
  }
}

function optimise(yes: boolean): void {
  if (yes === isOptimising) return;
  isOptimising = yes;
  for (const filter of FILTERS) setFlagsFromString(`--${filter}=${yes ? "*" : "-*"}`);
}
