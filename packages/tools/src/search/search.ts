import { on } from "node:events";
import { Worker } from "node:worker_threads";
import { threadFile } from "../thread.ts";
import type { Candidate, SearchRequest } from "./candidate.ts";
import { findRipgrep, searchWithRipgrep } from "./ripgrep.ts";

/** Looks for places below a folder, until it is broken off or the signal ends. */
export type Search = (request: SearchRequest, signal: AbortSignal) => AsyncIterable<Candidate>;

/** Searches with ripgrep where that is installed, else in a thread of this process. */
export function createSearch(searchPath: string = process.env["PATH"] ?? ""): Search {
  let program: Promise<string | undefined> | undefined;
  return async function* search(request, signal) {
    program ??= findRipgrep(searchPath);
    const ripgrep = await program;
    yield* ripgrep === undefined
      ? searchInThread(request, signal)
      : searchWithRipgrep(ripgrep, request, signal);
  };
}

async function* searchInThread(request: SearchRequest, signal: AbortSignal): AsyncGenerator<Candidate> {
  const worker = new Worker(threadFile("walk-worker", import.meta.url), {
    workerData: request,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  try {
    for await (const [group] of on(worker, "message", { close: ["exit"], signal })) yield* group;
  } finally {
    await worker.terminate();
  }
}
