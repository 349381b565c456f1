// Measures a decision and a command in the sandbox, each beside a baseline from the same run: a look-up in a Map, and
// the same shell without a sandbox right before each command. Exits with code 1 if a goal is missed.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import {
  createExecTool,
  createMemoryLabelStore,
  createRunState,
  createToolRunner,
  openFileLabels,
  openWorkspace,
  type RunFacts,
  type Sandbox,
  startSandbox,
} from "../src/index.ts";
import type { FileLabel } from "../src/labels/label.ts";
import { decideByPolicy } from "../src/policy.ts";
import { benchFiles } from "./files.ts";

const GOALS = { decisionUs: 20, commandMs: 40 };
const OWNER: RunFacts = {
  agentId: "coder",
  sessionKey: "s",
  role: "owner",
  speaker: "feishu:ou_1",
  channelKind: "direct",
  taint: [],
};
const MEMBER: RunFacts = { ...OWNER, role: "member", speaker: "feishu:ou_2" };

benchDecisions();
await benchFiles(OWNER);
await benchCommands();

function benchDecisions(): void {
  const rounds = 200_000;
  const policy = {
    allow: ["group:fs", "exec", "message"],
    deny: ["web_*"],
    askModes: { exec: "tainted" as const },
  };
  const facts = [
    OWNER,
    MEMBER,
    { ...OWNER, taint: [{ source: "web" as const, detail: "https://example.com" }] },
  ];
  const claims = [{ kind: "message_elsewhere" as const, detail: "ou_3" }];
  const tool = { name: "message", effects: "external" as const };
  const floor = new Map(facts.map((each, index) => [index, each]));
  const perCall = (work: (index: number) => unknown): number => {
    for (let i = 0; i < rounds / 10; i++) work(i % 3);
    const start = performance.now();
    for (let i = 0; i < rounds; i++) work(i % 3);
    return ((performance.now() - start) * 1_000) / rounds;
  };
  const lookUp = perCall((index) => floor.get(index));
  const decision = perCall((index) => decideByPolicy(policy, { tool, claims, facts: facts[index] ?? OWNER }));
  console.log(
    `decision: ${decision.toFixed(2)} µs (goal: under ${GOALS.decisionUs}; a look-up in a Map: ${lookUp.toFixed(3)})`,
  );
  if (decision >= GOALS.decisionUs) process.exitCode = 1;
}

async function benchCommands(): Promise<void> {
  const sandbox = await startSandbox();
  if (sandbox.level !== "bubblewrap") return console.log(`no commands: ${sandbox.reason}`);
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "bench-")));
  try {
    for (let i = 0; i < 1_000; i++) {
      mkdirSync(join(dir, `d${i % 50}`), { recursive: true });
      writeFileSync(join(dir, `d${i % 50}`, `f${i}`), "x");
    }
    const labels = await openFileLabels(createMemoryLabelStore());
    const foreign = Array.from({ length: 20 }, (_, i): FileLabel => {
      return { path: join(dir, `d${i}`, `f${i}`), kind: "entry", source: "web" };
    });
    const workspace = await openWorkspace({ dir, labels });
    const tool = createExecTool({ workspace, sandbox });
    const runner = createToolRunner({ tools: [tool], policy: { allow: ["exec"] }, record: () => {} });
    const commandOf = (facts: RunFacts) => async (): Promise<void> => {
      const run = runner.forRun(createRunState(facts));
      const signal = AbortSignal.timeout(10_000);
      const result = await run.call("exec", { command: "true" }, { callId: "1", signal });
      if (result.isError === true) throw new Error(JSON.stringify(result.content));
    };
    await benchCommand("an owner, 1,000 files", sandbox, commandOf(OWNER));
    await labels.add(foreign);
    await benchCommand("an owner, 1,000 files, 20 of them covered", sandbox, commandOf(OWNER));
    await benchCommand("a member, 1,000 files compared before and after", sandbox, commandOf(MEMBER));
    console.log(`load of the machine meanwhile: ${loadavg()[0]?.toFixed(1)}`);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Runs in pairs: a plain start, then the command. */
async function benchCommand(what: string, sandbox: Sandbox, command: () => Promise<void>): Promise<void> {
  const pairs: { plain: number; whole: number }[] = [];
  for (let i = 0; i < 41; i++) {
    const start = performance.now();
    await plainStart(sandbox);
    const between = performance.now();
    await command();
    pairs.push({ plain: between - start, whole: performance.now() - between });
  }
  const over = median(pairs.map(({ plain, whole }) => whole - plain));
  const whole = median(pairs.map((pair) => pair.whole));
  const plain = median(pairs.map((pair) => pair.plain));
  const figures = `${over.toFixed(1)} ms over a plain start (goal: under ${GOALS.commandMs}; ${whole.toFixed(1)} against ${plain.toFixed(1)})`;
  console.log(`command of ${what}: ${figures}`);
  if (over >= GOALS.commandMs) process.exitCode = 1;
}

function plainStart({ shell, env }: Sandbox): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(shell, ["-c", "true"], { env: { ...env }, stdio: ["ignore", "pipe", "pipe"] });
    child.once("error", reject).once("close", () => resolve());
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
