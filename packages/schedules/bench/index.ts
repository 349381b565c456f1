// 10,000 schedules over a simulated day: what they take of memory, and what the scheduler does while nothing is due.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createMemoryScheduleStore, createScheduler, type When } from "../src/index.ts";
import { fakeClock } from "../test/clock.ts";

const SCHEDULES = 10_000;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 5, 1);

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

function heapBytes(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** Once a day each, spread over its minutes; a third of each kind. */
function whenOf(index: number): When {
  const minute = index % 1_440;
  const at = START + minute * MINUTE_MS + 30_000;
  if (index % 3 === 0) return { kind: "at", at };
  if (index % 3 === 1) return { kind: "every", everyMs: DAY_MS, from: at - DAY_MS };
  return {
    kind: "cron",
    expression: `${minute % 60} ${Math.floor(minute / 60)} * * *`,
    zone: "Europe/Berlin",
  };
}

const before = heapBytes();
const clock = fakeClock(START);
const store = createMemoryScheduleStore<string>();
const scheduler = createScheduler<string>({ store, clock, logger: { warn: () => {} } });
let fired = 0;
let early = 0;
await scheduler.start(async ({ dueAt }) => {
  fired++;
  if (dueAt > clock.now()) early++;
  return "taken";
});
const adding = performance.now();
for (let index = 0; index < SCHEDULES; index++)
  await scheduler.add({ id: String(index), when: whenOf(index), missed: "once", task: "look at the mail" });
const added = performance.now() - adding;
const kept = heapBytes() - before;

const simulating = performance.now();
await clock.pass(DAY_MS);
const simulated = performance.now() - simulating;

console.log(
  `${SCHEDULES} schedules: ${(kept / 1e6).toFixed(1)} MB (at most 10), added in ${added.toFixed(0)} ms`,
);
console.log(`a day of them: ${fired} occurrences handed over, ${early} of them before they were due`);
console.log(
  `the scheduler worked ${(simulated / 1_440).toFixed(1)} ms of each minute, in which 7 of them were due`,
);
if (kept > 10e6 || early > 0 || fired < SCHEDULES * 0.99) process.exitCode = 1;
await scheduler.stop();
