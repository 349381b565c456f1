import { setTimeout } from "node:timers/promises";
import { textTurn } from "./plan.ts";
import { runners } from "./runners.ts";

// Prints, as JSON, two costs of a turn in microseconds of CPU time with what the compiler's threads take: in a young
// process, and after a pause with a full collection, at which V8 forgets what no object is left of.

const WARM_UP = 500;
const TURNS = 2_000;
const WARM = 20_000;
const AFTER_PAUSE = 100;

const runner = runners[process.argv[2] ?? ""];
if (runner === undefined) throw new Error(`No such runner. There are ${Object.keys(runners).join(", ")}.`);
const plan = [textTurn(8)];

async function run(turns: number): Promise<number> {
  const before = process.cpuUsage();
  for (let turn = 0; turn < turns; turn++) await runner?.(plan);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / turns;
}

await run(WARM_UP);
const young = await run(TURNS);
await run(WARM);
if (globalThis.gc === undefined) throw new Error("Run it with --expose-gc.");
globalThis.gc();
await setTimeout(50);
console.log(JSON.stringify([young, await run(AFTER_PAUSE)]));
