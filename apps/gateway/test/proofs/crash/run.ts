// Kills a built gateway again and again under load and checks what it promised. Usage, in apps/gateway, once built:
//   SIGNALBOX_KILLS=500 SIGNALBOX_SEED=7 node test/proofs/crash/run.ts
import { FAILPOINTS, type Failpoint } from "./failpoints.ts";
import { ELSEWHERE, plannedLives, runLives, SURE } from "./lives.ts";
import { PROMISES, promiseOf } from "./promises.ts";
import { seeded } from "./random.ts";

const kills = Number(process.argv[2] ?? process.env["SIGNALBOX_KILLS"] ?? 500);
const seed = Number(process.env["SIGNALBOX_SEED"] ?? Date.now() % 1_000_000);
/** Sessions grow with every kill, and with them what each question to the model holds. */
const KILLS_A_HOME = 10;

console.log(`seed ${seed}, ${kills} kills (repeat with SIGNALBOX_SEED=${seed} SIGNALBOX_KILLS=${kills})`);
const random = seeded(seed);
const recoveries: number[] = [];
const totals = {
  kills: 0,
  messages: 0,
  deliveries: 0,
  replies: 0,
  poisoned: 0,
  unknown: 0,
  background: 0,
  unreached: 0,
};
const broken = new Map<string, number>();
const reached = new Set<Failpoint>();
const unreached = new Set<Failpoint>();
/** So many kills pass every point often enough to ask for each of them. */
const ENOUGH = 8 * FAILPOINTS.length;
// All of them at once: each home goes on with the points that those before it have not had.
const planned = plannedLives(random, kills);
for (let from = 0; from < planned.length; from += KILLS_A_HOME) {
  const lives = planned.slice(from, from + KILLS_A_HOME);
  const report = await runLives(lives, {
    random,
    sessions: random.int(3, 8),
    ...(process.env["SIGNALBOX_VERBOSE"]
      ? { progress: (life, exit) => console.log(JSON.stringify({ life, exit })) }
      : {}),
  }).catch((error: unknown) => tell(`rest: ${error instanceof Error ? error.message : String(error)}`));
  if (!report) {
    totals.kills += lives.length;
    continue;
  }
  for (const key of [
    "kills",
    "messages",
    "deliveries",
    "replies",
    "poisoned",
    "unknown",
    "background",
  ] as const)
    totals[key] += report[key];
  totals.unreached += report.unreached.length;
  for (const point of report.reached) reached.add(point);
  for (const point of report.unreached) unreached.add(point);
  if (report.unreached.length > 0) console.log(`not reached this time: ${report.unreached.join(", ")}`);
  recoveries.push(...report.recoveries);
  report.violations.forEach(tell);
  console.log(
    `${totals.kills} kills, ${totals.messages} messages, ${totals.deliveries} deliveries, ${totals.replies} at the platform, ${totals.unknown} calls of unknown outcome, ${totals.background} commands in the background, ${totals.poisoned} set aside, ${totals.unreached} failpoints not reached, ${sum(broken)} broken`,
  );
}
const asked = kills >= ENOUGH ? FAILPOINTS.filter((point) => !ELSEWHERE.includes(point)) : SURE;
const missed = asked.filter((point) => !reached.has(point) && (kills >= ENOUGH || unreached.has(point)));
for (const point of missed) tell(`unreached: no process could be killed at ${point}`);
console.log(
  `${reached.size} of ${FAILPOINTS.length} failpoints killed, ${kills >= ENOUGH ? "all" : "of those chosen the usual ones"} had to; not of this world: ${ELSEWHERE.join(", ")}`,
);
const sorted = recoveries.toSorted((a, b) => a - b);
const at = (share: number): string =>
  (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(0);
console.log(
  `start to the first interrupted message at the model: median ${at(0.5)} ms, 90 % ${at(0.9)} ms, longest ${at(1)} ms over ${sorted.length} restarts`,
);
console.log(PROMISES.map((promise) => `${promise}: ${broken.get(promise) ?? 0}`).join(", "));
console.log(sum(broken) === 0 ? "every promise held" : `${sum(broken)} promises were broken`);
process.exitCode = sum(broken) === 0 ? 0 : 1;

function tell(violation: string): void {
  console.log(`BROKEN: ${violation}`);
  const promise = promiseOf(violation);
  broken.set(promise, (broken.get(promise) ?? 0) + 1);
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}
