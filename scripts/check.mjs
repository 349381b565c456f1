// `npm test`: every check and every test suite, then one line with what passed and failed.
// Parameters name the steps to run, for instance `npm test -- lint tests`.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { root, run } from "./workspace.mjs";

const reports = mkdtempSync(join(tmpdir(), "signalbox-report-"));
const bin = (name) => join(root, "node_modules", ".bin", name);
const scenarios = readdirSync(join(root, "scenarios"))
  .filter((name) => name.endsWith(".yaml"))
  .sort();
// By itself Vitest leaves a core free: of two cores that is half, while many suites wait for a process or a
// socket for much of their time.
const workers = Math.max(3, availableParallelism() - 1);

const STEPS = [
  { name: "lint", title: "format and lint", run: [bin("biome"), "ci", "--error-on-warnings", "."] },
  { name: "types", title: "types", run: [bin("turbo"), "run", "typecheck", "--output-logs=errors-only"] },
  { name: "layers", title: "layers", run: ["pnpm", "run", "--silent", "layers"] },
  { name: "knip", title: "unused files, exports and dependencies", run: [bin("knip"), "--no-config-hints"] },
  {
    name: "tests",
    title: "test suites",
    run: [
      bin("vitest"),
      "run",
      `--maxWorkers=${workers}`,
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${join(reports, "vitest.json")}`,
    ],
  },
  {
    name: "scenarios",
    title: "scenarios",
    run: [
      process.execPath,
      "apps/gateway/dist/cli/main.js",
      "replay",
      "--check",
      ...scenarios.map((name) => `scenarios/${name}`),
    ],
  },
  { name: "packages", title: "packages as published", run: [process.execPath, "scripts/packages.mjs"] },
  { name: "changesets", title: "changesets", run: [process.execPath, "scripts/changesets.mjs"] },
  { name: "readmes", title: "README examples from tarballs", run: [process.execPath, "scripts/readmes.mjs"] },
];

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !STEPS.some((step) => step.name === name));
if (unknown.length > 0) {
  console.error(
    `No such step: ${unknown.join(", ")}. There are ${STEPS.map((step) => step.name).join(", ")}.`,
  );
  process.exit(64);
}

let passed = 0;
let failed = 0;
let skipped = 0;
for (const step of STEPS) {
  if (wanted.length > 0 && !wanted.includes(step.name)) continue;
  console.log(`\n── ${step.title}`);
  const [program, ...parameters] = step.run;
  const started = Date.now();
  const { code } = await run(program, parameters, { show: true });
  console.log(
    `── ${step.title}: ${code === 0 ? "passed" : "FAILED"} in ${((Date.now() - started) / 1000).toFixed(1)} s`,
  );
  if (step.name === "tests") countTests(code);
  else if (code === 0) passed++;
  else failed++;
}
rmSync(reports, { recursive: true, force: true });
console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = failed === 0 ? 0 : 1;

function countTests(code) {
  try {
    const report = JSON.parse(readFileSync(join(reports, "vitest.json"), "utf8"));
    passed += report.numPassedTests;
    failed += report.numFailedTests;
    skipped += report.numPendingTests + report.numTodoTests;
    // A suite that could not be loaded has no tests to count, and an error outside tests fails the run.
    if (code !== 0 && report.numFailedTests === 0) failed++;
  } catch {
    failed++;
  }
}
