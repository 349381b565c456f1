import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { reasonOf } from "../errors.ts";
import type { JsonValue } from "../json.ts";
import type { SchemaIssue } from "./schema-issues.ts";

/** Milliseconds that one validation may take. Ordinary schemas take less than one. */
const TIME_LIMIT_MS = 2_000;
/** Megabytes of heap for the validation thread. */
const MEMORY_LIMIT_MB = 64;

const SOURCE = import.meta.url.endsWith(".ts") ? "./json-schema-worker.ts" : "./json-schema-worker.js";

/** The thread that validates, started on first use and again after one that was stopped. */
let thread: Promise<Worker> | undefined;
/** Validations run one after the other, so that the time limit of each covers only its own work. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Validates a value against a JSON Schema: draft 2020-12, and the spellings of older drafts and OpenAPI. `format`,
 * references to other documents, unknown keywords and patterns that JavaScript cannot read are ignored.
 *
 * A schema may come from an untrusted server, and a pattern or a reference can make validation take forever. It
 * therefore runs in a worker thread, which is stopped after two seconds.
 *
 * @returns what is wrong with the value; empty if it is valid. Never rejects.
 */
export function validateJson(schema: JsonValue, value: unknown): Promise<readonly SchemaIssue[]> {
  const issues = last.then(() => validateInThread(schema, value));
  last = issues;
  return issues;
}

async function validateInThread(schema: JsonValue, value: unknown): Promise<readonly SchemaIssue[]> {
  thread ??= startThread();
  const started = thread;
  try {
    const worker = await started;
    // The process stays alive for a validation, but not for an idle thread.
    worker.ref();
    worker.postMessage({ schema, value });
    const [issues] = await once(worker, "message", { signal: AbortSignal.timeout(TIME_LIMIT_MS) });
    worker.unref();
    return issues;
  } catch (error) {
    thread = undefined;
    started.then((worker) => worker.terminate()).catch(() => {});
    const isTimeout = error instanceof Error && error.name === "AbortError";
    const reason = isTimeout ? "the tool's schema takes too much time" : reasonOf(error);
    return [{ path: "", message: `cannot be validated: ${reason}` }];
  }
}

async function startThread(): Promise<Worker> {
  const worker = new Worker(new URL(SOURCE, import.meta.url), {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB },
  });
  // `once` above reports errors too, but an error without any listener would end the process.
  worker.on("error", () => {});
  await once(worker, "online");
  return worker;
}
