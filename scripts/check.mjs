// `npm test`: runs every check and every suite as a turbo task, and prints a summary. Unchanged tasks are read from
// turbo's cache, with their counts. Parameters select checks, for instance `npm test -- lint tests`.
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, rmSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";
import { root, run, workspaceMembers } from "./workspace.mjs";

/** Turbo tasks of each check. */
const CHECKS = {
  lint: ["lint"],
  types: ["typecheck"],
  layers: ["layers"],
  knip: ["knip"],
  tests: ["test", "test:scripts"],
  scenarios: ["scenarios"],
  packages: ["packages"],
  readmes: ["readmes"],
  changesets: ["changesets"],
};
const SUITES = new Set(CHECKS.tests);

/** Tasks that need no build. */
const BESIDE_BUILDS = new Set(["lint", "knip", "changesets"]);

/** The longest tasks start first. Turbo would start them in the order of their packages, and end with the longest. */
const LONGEST = "@signalbox/gateway#test";
const LONG = ["@signalbox/llm-providers#test", "@signalbox/tools#test"];

/** A check that mostly waits for installations and for one program after another. */
const WAITING = "readmes";

const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(CHECKS, name));
if (unknown.length > 0) {
  console.error(`No such check: ${unknown.join(", ")}. There are ${Object.keys(CHECKS).join(", ")}.`);
  process.exit(64);
}
const tasks = (named.length > 0 ? named : Object.keys(CHECKS)).flatMap((check) => CHECKS[check]);

const summaries = join(root, ".turbo", "runs");
for (const stale of [summaries, ...globSync(join(root, "{.,packages/*,apps/*}/.report"))])
  rmSync(stale, { recursive: true, force: true });
const env = {
  ...process.env,
  SIGNALBOX_TEST_HOST: testHost(),
  // Vitest and rolldown start dozens of times and share their compiled code in this cache.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, "node_modules", ".cache", "compiled"),
};
const turboCode = await runAll();

const total = { passed: 0, failed: 0, skipped: 0 };
let cached = 0;
const done = turboTasks();
console.log("");
for (const task of done) {
  const result = resultOf(task);
  for (const name of Object.keys(total)) total[name] += result[name];
  if (task.fromCache) cached++;
  const how = task.fromCache ? "from the cache" : `in ${(task.milliseconds / 1000).toFixed(1)} s`;
  const counts = result.counts === undefined ? "" : `: ${result.counts}`;
  console.log(`${result.failed > 0 ? "FAILED" : "passed"}  ${task.name} ${how}${counts}`);
  for (const failure of result.failures) console.log(`        failed: ${failure}`);
  for (const reason of result.reasons) console.log(`        skipped: ${reason}`);
}
if (done.length === 0 || (turboCode !== 0 && total.failed === 0)) {
  console.log("FAILED  turbo did not finish");
  total.failed++;
}
if (cached > 0)
  console.log(
    `\n${cached} of ${done.length} tasks were taken from the cache, as nothing they read has changed.`,
  );
console.log(
  `\n${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ""}`,
);
process.exitCode = total.failed === 0 ? 0 : 1;

/**
 * Builds first. Then runs four sequences in parallel: the gateway's suite followed by the other checks, the long
 * suites, all remaining suites, and the check that mostly waits. Resolves with 0 if everything passed.
 */
async function runAll() {
  const cores = availableParallelism();
  if (!tasks.includes("test")) return runTurbo(tasks, cores + 1);
  const early = tasks.filter((task) => BESIDE_BUILDS.has(task));
  const waiting = tasks.filter((task) => task === WAITING);
  const late = tasks.filter((task) => !BESIDE_BUILDS.has(task) && task !== "test" && task !== WAITING);
  const suites = workspaceMembers().map(({ manifest }) => `${manifest.name}#test`);
  const beside = suites.filter((task) => task !== LONGEST);
  const built = await runTurbo(["build", ...early], cores + 1);
  // Low concurrency, because parallel suites slow each other down.
  const codes = await Promise.all([
    runTurbo([LONGEST], 1).then(async (code) => Math.max(code, await runTurbo(late, cores))),
    runTurbo(
      beside.filter((task) => LONG.includes(task)),
      1,
    ),
    // Most of these suites wait most of the time.
    runTurbo(
      beside.filter((task) => !LONG.includes(task)),
      cores,
    ),
    runTurbo(waiting, 1),
  ]);
  return Math.max(built, ...codes);
}

async function runTurbo(wanted, concurrency) {
  if (wanted.length === 0) return 0;
  const { code } = await run(
    join(root, "node_modules", ".bin", "turbo"),
    [
      ...["run", ...wanted, "--summarize", "--continue=dependencies-successful", "--log-order=grouped"],
      `--concurrency=${concurrency}`,
    ],
    { show: true, env },
  );
  return code;
}

/** Returns the tasks that turbo ran, each once. Builds are included only if they failed. */
function turboTasks() {
  const summarized = globSync(join(summaries, "*.json")).flatMap(
    (file) => JSON.parse(readFileSync(file, "utf8")).tasks,
  );
  const byId = new Map(summarized.map((task) => [task.taskId, task]));
  return [...byId.values()].flatMap(({ task, package: member, directory, cache, execution }) => {
    // A task is not executed if one of its dependencies failed.
    const tried = execution !== undefined;
    const passed = tried && (execution.exitCode ?? 0) === 0;
    if (!tasks.includes(task) && (passed || !tried)) return [];
    const name = member === "//" ? task : `${member} ${task}`;
    const milliseconds = tried ? execution.endTime - execution.startTime : 0;
    const suite = SUITES.has(task);
    return [{ name, suite, directory, passed, milliseconds, fromCache: cache.status === "HIT" }];
  });
}

/** A suite is counted by its tests, and any other check as one. */
function resultOf({ suite, passed, directory }) {
  const whole = { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0, reasons: [], failures: [] };
  if (!suite) return whole;
  const file = join(root, directory, ".report", "suite.json");
  if (!existsSync(file)) return { ...whole, passed: 0, failed: 1, counts: "left no report" };
  const report = JSON.parse(readFileSync(file, "utf8"));
  const unexplained = report.skipped > 0 && report.reasons.length === 0 ? 1 : 0;
  const reasons = unexplained === 0 ? report.reasons : ["without a reason, which is a failure"];
  // The suite may have failed outside of its tests.
  const failed = Math.max(report.failed + unexplained, whole.failed);
  const counts = `${report.passed} passed${failed > 0 ? `, ${failed} failed` : ""}${report.skipped > 0 ? `, ${report.skipped} skipped` : ""}`;
  return { ...report, failed, reasons, counts };
}

/**
 * Digest of programs and data on this machine without which suites skip tests. If it changes, the cached results are
 * not used.
 */
function testHost() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const programs = ["bwrap", "chromium", "initdb", "rg"].flatMap((name) =>
    folders.map((folder) => join(folder, name)),
  );
  programs.push(...globSync("/usr/lib/postgresql/*/bin/initdb"));
  const recordings = process.env.SIGNALBOX_RECORDINGS;
  const data = recordings ? globSync(join(recordings, "**")) : [];
  const parts = [...programs, ...data].flatMap((path) => {
    const entry = statSync(path, { throwIfNoEntry: false });
    return entry === undefined ? [] : [`${path} ${entry.size} ${entry.mtimeMs}`];
  });
  const uid = process.getuid?.() ?? "";
  return createHash("sha256")
    .update([process.platform, process.arch, uid, ...parts].join("\n"))
    .digest("hex");
}
