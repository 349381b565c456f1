import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";

/** Plain JavaScript, so that the thread starts the same from sources and from the build. */
const program = `
const { workerData } = require("node:worker_threads");
const Sqlite = require(workerData.driver);
const file = new Sqlite(workerData.path, { timeout: 60_000, fileMustExist: true });
file.pragma("wal_autocheckpoint = 0");
file.exec("VACUUM");
file.close();
`;

/** `VACUUM` on a thread of its own: it rewrites the whole file, which would hold the event loop for as long. */
export function vacuumElsewhere(path: string): Promise<void> {
  const driver = createRequire(import.meta.url).resolve("better-sqlite3");
  return new Promise((resolve, reject) => {
    const worker = new Worker(program, { eval: true, workerData: { path, driver } });
    worker.once("error", reject);
    worker.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`The thread ended with ${code}.`)),
    );
  });
}
