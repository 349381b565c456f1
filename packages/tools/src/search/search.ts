import { on } from "node:events";
import { Worker } from "node:worker_threads";
import { findProgram } from "../sandbox/programs.ts";
import { getWorkerFile } from "../thread.ts";
import type { Candidate, SearchRequest } from "./candidate.ts";
import { type SearchPrograms, searchWithRipgrep } from "./ripgrep.ts";

/** Searches below a folder until the caller stops or the signal is aborted. */
export type Search = (request: SearchRequest, signal: AbortSignal) => AsyncIterable<Candidate>;

/** Creates a search that uses ripgrep if it is installed and can run, and otherwise a worker thread. */
export function createSearch(searchPath: string = process.env["PATH"] ?? ""): Search {
  let programs: Promise<SearchPrograms | undefined> | undefined;
  return async function* search(request, signal) {
    programs ??= findPrograms(searchPath);
    const available = await programs;
    const ran = available !== undefined && (yield* searchWithRipgrep(available, request, signal));
    if (!ran) yield* searchInThread(request, signal);
  };
}

async function findPrograms(searchPath: string): Promise<SearchPrograms | undefined> {
  const ripgrep = await findProgram("rg", searchPath);
  if (ripgrep === undefined) return undefined;
  return { ripgrep, launcher: await findProgram("bwrap", searchPath) };
}

async function* searchInThread(request: SearchRequest, signal: AbortSignal): AsyncGenerator<Candidate> {
  const worker = new Worker(getWorkerFile("walk-worker", import.meta.url), {
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
