import { textTurn } from "./plan.ts";
import { runners } from "./runners.ts";

// Prints what a turn costs in a young process, in microseconds of CPU time with what the compiler's threads take.

const WARM_UP = 500;
const TURNS = 2_000;

const runner = runners[process.argv[2] ?? ""];
if (runner === undefined) throw new Error(`No such runner. There are ${Object.keys(runners).join(", ")}.`);
const plan = [textTurn(8)];
for (let turn = 0; turn < WARM_UP; turn++) await runner(plan);
const before = process.cpuUsage();
for (let turn = 0; turn < TURNS; turn++) await runner(plan);
const { user, system } = process.cpuUsage(before);
console.log((user + system) / TURNS);
