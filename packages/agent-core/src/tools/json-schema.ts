import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { reasonOf } from "../errors.ts";
import type { JsonValue } from "../json.ts";
import type { SchemaIssue } from "./schema-issues.ts";

/** Time limit for one validation in milliseconds. Ordinary schemas take less than one millisecond. */
const TIME_LIMIT_MS = 2_000;
/** Heap limit of the validation thread in megabytes. */
const MEMORY_LIMIT_MB = 64;

const SOURCE = import.meta.url.endsWith(".ts") ? "./json-schema-worker.ts" : "./json-schema-worker.js";

/** The validation thread. It starts on first use, and again after it was stopped. */
let thread: Promise<Worker> | undefined;
/** Validations run one at a time, so that the time limit of each covers only its own run time. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Validates a value against a JSON Schema of draft 2020-12. Accepts the spellings of older drafts and OpenAPI. Ignores
 * `format`, references to other documents, unknown keywords and patterns that JavaScript cannot compile.
 *
 * A schema may come from an untrusted server, and a pattern or a reference can make validation take forever. Validation
 * therefore runs in a worker thread, which is stopped after two seconds.
 *
 * @returns the issues of the value; empty if it is valid. Never rejects.
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
    // The thread keeps the process alive during a validation, but not while it is idle.
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
  // `once` above reports errors too, but a further error without a listener would end the process.
  worker.on("error", () => {});
  // The time limit of a validation must not include loading the validator.
  await once(worker, "message");
  return worker;
}
