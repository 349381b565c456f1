import { createRequire } from "node:module";
import { PAGE_BYTES } from "./connection.ts";
import { toStoreError } from "./driver-errors.ts";

/** Plain JavaScript, so that the worker runs both from source and from the build. */
const program = `
const { parentPort, workerData } = require("node:worker_threads");
const Sqlite = require(workerData.driver);
const { path, copy } = workerData;
try {
  if (copy === undefined) {
    const file = new Sqlite(path, { timeout: 60_000, fileMustExist: true });
    file.pragma("wal_autocheckpoint = 0");
    file.exec("VACUUM");
    file.pragma("synchronous = FULL");
    // Most of it while others write; what is left, and the cut of the file, while they wait for a moment.
    file.pragma("wal_checkpoint(PASSIVE)");
    file.pragma("wal_checkpoint(FULL)");
    file.close();
  } else {
    const file = new Sqlite(path, { timeout: 60_000, readonly: true });
    file.pragma("page_size = ${PAGE_BYTES}");
    file.prepare("VACUUM INTO ?").run(copy);
    file.close();
    const made = new Sqlite(copy, { readonly: true });
    const [problem] = made.pragma("integrity_check(1)");
    made.close();
    if (problem.integrity_check !== "ok")
      throw Object.assign(new Error("the copy: " + problem.integrity_check), { code: "SQLITE_CORRUPT" });
  }
} catch ({ code, message }) {
  parentPort.postMessage({ code, message });
}
`;

/** Runs an operation on the whole file in a worker thread, because it would block the event loop. */
async function onThread(work: { readonly path: string; readonly copy?: string }): Promise<void> {
  const driver = createRequire(import.meta.url).resolve("better-sqlite3");
  const { Worker } = await import("node:worker_threads");
  return new Promise((resolve, reject) => {
    const worker = new Worker(program, { eval: true, workerData: { ...work, driver } });
    worker.once("error", reject);
    // `postMessage` does not preserve an error's `code`.
    worker.once("message", ({ code, message }: { code: unknown; message: string }) =>
      reject(toStoreError(Object.assign(new Error(message), { code }))),
    );
    worker.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`The thread ended with ${code}.`)),
    );
  });
}

/** Runs `VACUUM` and checkpoints the log. */
export function vacuumOnThread(path: string): Promise<void> {
  return onThread({ path });
}

/**
 * Copies one committed state of the database to the empty file `copy` and checks the integrity of the copy. The copy
 * uses a single read transaction, so concurrent writers do not wait and do not restart it.
 */
export function copyOnThread(path: string, copy: string): Promise<void> {
  return onThread({ path, copy });
}
