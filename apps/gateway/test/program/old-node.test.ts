import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const program = fileURLToPath(new URL("../../dist/signalbox.js", import.meta.url));

it.each([
  ["20.20.2", 1],
  ["22.13.1", 1],
  ["22.14.0", 0],
])("says on Node.js %s whether it is too old", (version, status) => {
  const pretence = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`;
  const preload = `data:text/javascript,${encodeURIComponent(pretence)}`;
  const run = spawnSync(process.execPath, ["--import", preload, program, "--version"], { encoding: "utf8" });
  const says = status === 0 ? "" : `Signalbox needs Node.js 22.14 or newer; this is ${version}.\n`;
  expect([run.status, run.stderr]).toEqual([status, says]);
});
