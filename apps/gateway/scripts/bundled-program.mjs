// `program.js` as the bundle has it: a file beside `signalbox.js` that opens the files of the program.
import { getCompileCacheDir } from "node:module";
import { openBundle, optimiseAfter } from "@signalbox/cli/bundle";

/** By then a service has started, and loaded what its first message needs. */
const STARTED_MS = 2_500;

optimiseAfter(STARTED_MS);
const [, , command = ""] = process.argv;
const load = openBundle({
  meta: import.meta,
  importOutside: (id) => import(id),
  keptIn: getCompileCacheDir(),
  purpose: /^[a-z]+(?:-[a-z]+)*$/.test(command) ? command : "options",
});
// Before anything makes a schema.
load("signalbox-schemas.cjs");
export const { runSignalbox } = load("signalbox-code.cjs");
