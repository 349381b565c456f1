// Disturbs gateways that share a PostgreSQL database while people write, and checks the promises. Usage, in
// apps/gateway, once built:
//   node test/proofs/cluster/run.ts [rounds] [--seed N] [--verbose]
// Then plants one fault after the other in a copy of the build, each of which must be found. With 0 rounds, it only
// plants faults.
import { parseArgs } from "node:util";
import { PROMISES, promiseOf } from "../crash/promises.ts";
import { seeded } from "../crash/random.ts";
import { copyBuild } from "../mutants/build-copy.ts";
import { type ClusterReport, planCourse, runCourse } from "./course.ts";
import { type DatabaseServer, startDatabaseServer } from "./database.ts";
import { DISTURBANCES, type Disturbance, type Outcome } from "./disturb.ts";
import { FAULTS, hunt } from "./faults.ts";

/** Conversations grow with each disturbance, and with them each request to the model. */
const DISTURBANCES_A_WORLD = 12;
/** Attempts to find a planted fault, each with another seed. */
const TRIES = 3;
/** Marks for takeovers, in milliseconds. */
const MEDIAN_MS = 5_000;
const MAX_MS = 8_000;
const TAKEOVERS: readonly Disturbance[] = ["kill", "stop", "black hole"];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: "string" }, verbose: { type: "boolean", default: false } },
});
const rounds = Number(positionals[0] ?? 3);
const seed = Number(values.seed ?? process.env["SIGNALBOX_SEED"] ?? Date.now() % 1_000_000);
const random = seeded(seed);
const course = planCourse(random, rounds);
console.log(`seed ${seed}, ${rounds} rounds: ${describe(course)} (repeat with --seed ${seed})`);

const server = await startDatabaseServer();
if (typeof server === "string") {
  console.log(`skipped: ${server}`);
  process.exit(0);
}
const started = performance.now();
const totals = { messages: 0, replies: 0, poisoned: 0, unknown: 0, lostCommits: 0 };
const takeovers = new Map<Disturbance, number[]>();
const broken = new Map<string, number>();
let done = 0;
try {
  for (let from = 0; from < course.length; from += DISTURBANCES_A_WORLD) {
    const part = course.slice(from, from + DISTURBANCES_A_WORLD);
    const report = await runCourse(part, {
      random: seeded(random.int(0, 1e9)),
      server,
      sessions: random.int(4, 8),
      dumps: true,
      pauseMs: 600,
      ...(values.verbose ? { progress: printOutcome } : {}),
    });
    done += part.length;
    add(report);
    if (report.dump !== undefined) console.log(`the state of this world is in ${report.dump}`);
    console.log(
      `${done} of ${course.length} disturbances, ${seconds()} s, ${JSON.stringify(totals)}, ${countBroken()} broken`,
    );
  }
  printFigures();
  await plantFaults(server);
} finally {
  await server.stop();
}
console.log(countBroken() === 0 ? "every promise held" : `${countBroken()} promises were broken`);
// People of a world that did not come to rest go on trying to deliver their messages.
process.exit(countBroken() === 0 ? 0 : 1);

async function plantFaults(on: DatabaseServer): Promise<void> {
  const copy = copyBuild();
  try {
    for (const fault of FAULTS) {
      const began = performance.now();
      const seeds = Array.from({ length: TRIES }, (_, index) => seed + index);
      const { caught, others, baseline } = await hunt(fault, copy, { server: on, seeds });
      const took = `${((performance.now() - began) / 1000).toFixed(0)} s`;
      for (const violation of baseline) blame(`without a fault: ${violation}`);
      if (caught === undefined)
        blame(`survived: a cluster that ${fault.name} (${took}): ${others.join("; ")}`);
      else
        console.log(
          `a cluster that ${fault.name} → ${caught.slice(0, 160)} (${took}; no violation without the fault)`,
        );
    }
  } finally {
    copy.remove();
  }
}

function add(report: ClusterReport): void {
  for (const key of ["messages", "replies", "poisoned", "unknown", "lostCommits"] as const)
    totals[key] += report[key];
  for (const [what, times] of report.takeovers)
    takeovers.set(what, [...(takeovers.get(what) ?? []), ...times]);
  report.violations.forEach(blame);
}

function blame(violation: string): void {
  console.log(`BROKEN: ${violation}`);
  const promise = promiseOf(violation);
  broken.set(promise, (broken.get(promise) ?? 0) + 1);
}

function countBroken(): number {
  return [...broken.values()].reduce((total, count) => total + count, 0);
}

/** Prints the time of a disturbance and what was taken last. */
function printOutcome(what: Disturbance, { takeovers: times }: Outcome): void {
  const words = times.map(({ ms, last }) => {
    const reason = last.length > 0 ? ` (last: ${last.slice(0, 3).join(", ")})` : "";
    return `${Math.round(ms)} ms${reason}`;
  });
  console.log(`${what} ${words.join(", ")}`);
}

function seconds(): string {
  return ((performance.now() - started) / 1000).toFixed(0);
}

function describe(all: readonly Disturbance[]): string {
  return DISTURBANCES.map((what) => `${all.filter((one) => one === what).length} × ${what}`).join(", ");
}

function printFigures(): void {
  const promises = PROMISES.map((promise) => `${promise}: ${broken.get(promise) ?? 0}`);
  console.log(`${done} disturbances, ${totals.messages} messages, ${promises.join(", ")}`);
  for (const what of DISTURBANCES)
    if (!TAKEOVERS.includes(what)) printTimes(`${what}, until all leases were renewed`, getTimes(what));
  for (const what of TAKEOVERS) printTimes(`${what}, until everything was taken over`, getTimes(what));
  const all = TAKEOVERS.flatMap(getTimes);
  printTimes(
    "all takeovers",
    all,
    ({ median, max }) => ` [${mark(median, MEDIAN_MS)}; ${mark(max, MAX_MS)}]`,
  );
}

function getTimes(what: Disturbance): readonly number[] {
  return takeovers.get(what) ?? [];
}

interface Extremes {
  readonly median: number;
  readonly max: number;
}

function printTimes(
  title: string,
  times: readonly number[],
  judge: (of: Extremes) => string = () => "",
): void {
  const sorted = times.toSorted((a, b) => a - b);
  const median = sorted[Math.floor((sorted.length - 1) / 2)];
  const max = sorted.at(-1);
  if (median === undefined || max === undefined) return;
  const figures = `median ${(median / 1000).toFixed(1)} s, longest ${(max / 1000).toFixed(1)} s, ${times.length} times`;
  console.log(`${title}: ${figures}${judge({ median, max })}`);
}

function mark(ms: number, limit: number): string {
  return `${limit / 1000} s at most: ${ms <= limit ? "kept" : "MISSED"}`;
}
