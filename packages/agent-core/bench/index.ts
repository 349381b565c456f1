import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type PlannedTurn, parallelPlan, type Runner, textTurn, toolPlan } from "./plan.ts";
import { runners } from "./runners.ts";

// In-process model, no HTTP. Each figure is the cost of one unit (a turn, a delta, a tool turn), as the least and the
// median of the rounds, with the ratio of the medians to a loop written by hand over a bare generator in the same run.

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const ROUND_MS = 150;

interface Scenario {
  readonly name: string;
  readonly unit: string;
  readonly plan: readonly PlannedTurn[];
  /** Units in one run of the plan. */
  readonly units: number;
  readonly calls: number;
}

const scenarios: readonly Scenario[] = [
  { name: "turn of 8 deltas", unit: "turn", plan: [textTurn(8)], units: 1, calls: 0 },
  { name: "turn of 5,000 deltas", unit: "delta", plan: [textTurn(5_000)], units: 5_000, calls: 0 },
  ...[10, 50, 200, 400].map((turns) => ({
    name: `loop of ${turns} tool turns`,
    unit: "tool turn",
    plan: toolPlan(turns),
    units: turns,
    calls: turns,
  })),
  { name: "32 parallel calls", unit: "call", plan: parallelPlan(32), units: 32, calls: 32 },
];

async function once(runner: Runner, scenario: Scenario): Promise<void> {
  const { calls, text } = await runner(scenario.plan);
  if (calls !== scenario.calls || text === "") throw new Error(`wrong outcome in "${scenario.name}"`);
}

/** Microseconds of CPU time a unit. */
async function measure(runner: Runner, scenario: Scenario): Promise<number> {
  globalThis.gc?.();
  const until = performance.now() + ROUND_MS;
  const before = process.cpuUsage();
  let runs = 0;
  while (performance.now() < until) {
    await once(runner, scenario);
    runs++;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (runs * scenario.units);
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

function print(name: string, costs: readonly number[], floor: number): void {
  const [least, middle] = [Math.min(...costs), median(costs)].map((cost) => cost.toFixed(2).padStart(7));
  console.log(`  ${name.padEnd(22)} min ${least}  median ${middle}  × ${(median(costs) / floor).toFixed(2)}`);
}

const figures = new Map<string, number[]>();
for (let round = -1; round < ROUNDS; round++) {
  for (const scenario of scenarios) {
    for (const [name, runner] of Object.entries(runners)) {
      const cost = await measure(runner, scenario);
      // The first round warms the code up.
      if (round < 0) continue;
      const key = `${scenario.name}/${name}`;
      figures.set(key, [...(figures.get(key) ?? []), cost]);
    }
  }
}

for (const scenario of scenarios) {
  console.log(`${scenario.name}, µs a ${scenario.unit}`);
  const floor = median(figures.get(`${scenario.name}/bare generator`) ?? []);
  for (const name of Object.keys(runners)) {
    const costs = figures.get(`${scenario.name}/${name}`) ?? [];
    print(name, costs, floor);
  }
}
for (const name of ["Agent", "agentLoop, iterated"]) {
  const cost = (turns: number): number => median(figures.get(`loop of ${turns} tool turns/${name}`) ?? []);
  console.log(`${name}: a tool turn of 400 costs ${(cost(400) / cost(10)).toFixed(2)} × one of 10`);
}

// What a program pays that makes some thousand turns and ends, most of which run before they
// are optimised; and one that has been idle.
const firstTurns = fileURLToPath(new URL("first-turns.ts", import.meta.url));
const young = new Map<string, number[]>();
const rested = new Map<string, number[]>();
for (let round = 0; round < ROUNDS; round++) {
  for (const name of Object.keys(runners)) {
    const output = execFileSync(process.execPath, ["--expose-gc", firstTurns, name], { encoding: "utf8" });
    const [first = Number.NaN, after = Number.NaN]: number[] = JSON.parse(output);
    young.set(name, [...(young.get(name) ?? []), first]);
    rested.set(name, [...(rested.get(name) ?? []), after]);
  }
}
for (const [title, costs] of [
  ["turn of 8 deltas, the 501st to 2,500th of a process, µs a turn", young],
  ["turn of 8 deltas, the first 100 after a pause with a full collection, µs a turn", rested],
] as const) {
  console.log(title);
  const floor = median(costs.get("bare generator") ?? []);
  for (const [name, all] of costs) print(name, all, floor);
}

/** Milliseconds and MiB of resident memory that importing a module takes, in a process of its own. */
function importCost(url: URL): { ms: number; mib: number } {
  const script = `
const before = process.memoryUsage().rss;
const start = performance.now();
await import(${JSON.stringify(url.href)});
console.log(JSON.stringify([performance.now() - start, (process.memoryUsage().rss - before) / 1048576]));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  const [ms = Number.NaN, mib = Number.NaN]: number[] = JSON.parse(output);
  return { ms, mib };
}

const empty = new URL("empty.mjs", import.meta.url);
const built = new URL("../dist/index.js", import.meta.url);
const imports = Array.from({ length: 11 }, () => ({ empty: importCost(empty), built: importCost(built) }));
for (const [name, unit] of [
  ["ms", "ms"],
  ["mib", "MiB resident"],
] as const) {
  const own = imports.map((entry) => entry.built[name]);
  const floor = median(imports.map((entry) => entry.empty[name]));
  console.log(
    `import: min ${Math.min(...own).toFixed(1)}, median ${median(own).toFixed(1)} ${unit}; an empty module ${floor.toFixed(1)}`,
  );
}
