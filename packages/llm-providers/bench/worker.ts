// One sample in a process of its own: one scenario of one candidate.
import {
  agent,
  bareFetch,
  bareGenerator,
  ours,
  oursWithRunner,
  type Run,
  rawSdk,
  turnWriter,
} from "./candidates.ts";
import { expected, type Plan, promptOf } from "./plan.ts";

const candidates = { bareFetch, rawSdk, ours, oursWithRunner, agent, bareGenerator, turnWriter };

/** What a sample is asked for. */
export interface Job {
  readonly candidate: keyof typeof candidates;
  readonly url: string;
  readonly plan: Plan;
  /** Runs at once. */
  readonly atOnce: number;
  /** Measure from before the candidate is loaded to the end of its first run. */
  readonly cold: boolean;
  /** At least so long, in milliseconds, after a warm-up of half as long. */
  readonly ms: number;
}

/** CPU time of all threads, and wall time, in microseconds a run. */
export interface Sample {
  readonly cpuUs: number;
  readonly wallUs: number;
}

const job: Job = JSON.parse(process.argv[2] ?? "");
const prompt = promptOf(job.plan);
const want = expected(job.plan);

const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

async function once(run: Run): Promise<void> {
  let characters = 0;
  let calls = 0;
  const text = await run(prompt, {
    onDelta(delta) {
      characters += delta.length;
    },
    onTool(args) {
      calls++;
      return `ok ${JSON.stringify(args).length}`;
    },
  });
  if (characters !== want.characters || calls !== want.calls || text.length !== want.characters)
    throw new Error(
      `${job.candidate}: ${characters}/${want.characters} characters, ${calls}/${want.calls} calls`,
    );
}

const all = (run: Run): Promise<unknown> => Promise.all(Array.from({ length: job.atOnce }, () => once(run)));

async function repeat(run: Run, ms: number): Promise<Sample> {
  const from = performance.now();
  const cpuFrom = cpu();
  let runs = 0;
  do {
    await all(run);
    runs++;
  } while (performance.now() - from < ms);
  return { cpuUs: (cpu() - cpuFrom) / runs, wallUs: ((performance.now() - from) * 1_000) / runs };
}

let sample: Sample;
if (job.cold) {
  const from = performance.now();
  const cpuFrom = cpu();
  await once(await candidates[job.candidate](job.url));
  sample = { cpuUs: cpu() - cpuFrom, wallUs: (performance.now() - from) * 1_000 };
} else {
  const run = await candidates[job.candidate](job.url);
  await repeat(run, job.ms / 2);
  sample = await repeat(run, job.ms);
}
process.stdout.write(`${JSON.stringify(sample)}\n`, () => process.exit(0));
