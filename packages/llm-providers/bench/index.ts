// CPU time of the Anthropic provider, under a hand-written loop and under agent-core's Agent, against
// hand-written floors, measured in the same run. node bench/index.ts [--rounds 3] [--ms 800] [--only
// turn,tools] Every sample is a fresh process; the order of the candidates moves on from round to round; ratios
// are medians of the ratios within a round, so that a busy machine disturbs both sides alike; what a long loop
// costs over a short one is a ratio of medians.
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import type { Plan } from "./plan.ts";
import type { Job, Sample } from "./worker.ts";

type Candidate = Job["candidate"];

interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly plan: Plan;
  readonly atOnce?: number;
  readonly cold?: boolean;
  readonly candidates: readonly Candidate[];
  /** The candidate everything is measured against. */
  readonly floor: Candidate;
  /** Turns, deltas or calls in a run; a figure is given for each. */
  readonly units: number;
}

const WIRE: readonly Candidate[] = ["rawSdk", "bareFetch", "ours", "oursWithRunner", "agent"];
const LOCAL: readonly Candidate[] = ["bareGenerator", "turnWriter"];

const SCENARIOS: readonly Scenario[] = [
  {
    name: "first",
    title: "import and first turn",
    plan: { kind: "text", count: 8 },
    cold: true,
    candidates: WIRE,
    floor: "rawSdk",
    units: 1,
  },
  {
    name: "turn",
    title: "short text turn",
    plan: { kind: "text", count: 8 },
    candidates: WIRE,
    floor: "rawSdk",
    units: 1,
  },
  {
    name: "burst",
    title: "delta, 5,000 in a burst",
    plan: { kind: "text", count: 5_000 },
    candidates: WIRE,
    floor: "rawSdk",
    units: 5_000,
  },
  {
    name: "paced",
    title: "delta, 1,000 paced",
    plan: { kind: "paced", count: 1_000 },
    candidates: WIRE,
    floor: "rawSdk",
    units: 1_000,
  },
  {
    name: "tools",
    title: "tool turn, loop of 10",
    plan: { kind: "tools", count: 10 },
    candidates: WIRE,
    floor: "rawSdk",
    units: 10,
  },
  {
    name: "tools",
    title: "tool turn, loop of 50",
    plan: { kind: "tools", count: 50 },
    candidates: WIRE,
    floor: "rawSdk",
    units: 50,
  },
  {
    name: "tools",
    title: "tool turn, loop of 400",
    plan: { kind: "tools", count: 400 },
    candidates: WIRE,
    floor: "rawSdk",
    units: 400,
  },
  {
    name: "parallel",
    title: "call, 32 in one turn",
    plan: { kind: "parallel", count: 32 },
    candidates: WIRE,
    floor: "rawSdk",
    units: 32,
  },
  {
    name: "runs",
    title: "run of 5 tool turns, 64 at once",
    plan: { kind: "tools", count: 5 },
    atOnce: 64,
    candidates: WIRE,
    floor: "rawSdk",
    units: 64,
  },
  {
    name: "local",
    title: "in process: turn of 8 deltas",
    plan: { kind: "text", count: 8 },
    candidates: LOCAL,
    floor: "bareGenerator",
    units: 1,
  },
  {
    name: "local",
    title: "in process: delta of 5,000",
    plan: { kind: "text", count: 5_000 },
    candidates: LOCAL,
    floor: "bareGenerator",
    units: 5_000,
  },
  {
    name: "local",
    title: "in process: tool turn, loop of 400",
    plan: { kind: "tools", count: 400 },
    candidates: LOCAL,
    floor: "bareGenerator",
    units: 400,
  },
];

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    ms: { type: "string", default: "800" },
    only: { type: "string" },
  },
});
const only = values.only?.split(",");
const scenarios = SCENARIOS.filter(({ name }) => only === undefined || only.includes(name));
const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const execute = promisify(execFile);

async function sample(scenario: Scenario, candidate: Candidate, url: string): Promise<Sample> {
  const { plan, atOnce = 1, cold = false } = scenario;
  const job: Job = { candidate, url, plan, atOnce, cold, ms: Number(values.ms) };
  const { stdout } = await execute(process.execPath, [here("worker.ts"), JSON.stringify(job)]);
  return JSON.parse(stdout);
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const server = fork(here("server.ts"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
const [url]: string[] = await once(server, "message");
const rounds = Number(values.rounds);
const cores = cpus();
console.log(
  `Node ${process.version}, ${cores.length} × ${cores[0]?.model ?? "?"}, ${rounds} rounds, CPU time`,
);
console.log(`${"".padEnd(36)}${"µs each".padStart(10)}${"× floor".padStart(10)}`);

/** What a tool turn costs each candidate, by the length of the loop; the median of the rounds. */
const toolTurns = new Map<number, ReadonlyMap<Candidate, number>>();

for (const scenario of scenarios) {
  const samples = new Map<Candidate, number[]>(scenario.candidates.map((candidate) => [candidate, []]));
  for (let round = 0; round < rounds; round++)
    for (let i = 0; i < scenario.candidates.length; i++) {
      const candidate = scenario.candidates[(i + round) % scenario.candidates.length];
      if (candidate === undefined || url === undefined) continue;
      samples.get(candidate)?.push((await sample(scenario, candidate, url)).cpuUs / scenario.units);
    }
  console.log(scenario.title);
  if (scenario.name === "tools")
    toolTurns.set(scenario.units, new Map([...samples].map(([name, figures]) => [name, median(figures)])));
  const floor = samples.get(scenario.floor) ?? [];
  for (const [candidate, figures] of samples) {
    const ratio = median(figures.map((figure, round) => figure / (floor[round] ?? Number.NaN)));
    const figure = median(figures);
    const shown = figure < 100 ? figure.toFixed(2) : figure.toFixed(0);
    console.log(`  ${candidate.padEnd(34)}${shown.padStart(10)}${ratio.toFixed(2).padStart(10)}`);
  }
}
server.disconnect();

const long = toolTurns.get(400);
const short = toolTurns.get(10);
if (long !== undefined && short !== undefined) {
  console.log("tool turn, loop of 400 over loop of 10");
  for (const [candidate, cost] of long) {
    const ratio = cost / (short.get(candidate) ?? Number.NaN);
    console.log(`  ${candidate.padEnd(44)}${ratio.toFixed(2).padStart(10)}`);
  }
}
