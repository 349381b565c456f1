// What a decision costs, and a command in the sandbox, against floors measured in the same run: a look-up in a Map, and
// the same shell started plainly. Goals: a decision under 20 µs, a command under 40 ms more than a plain start.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import {
  createExecTool,
  createMemoryLabelStore,
  createRunState,
  createToolRunner,
  decide,
  type FileLabel,
  openFileLabels,
  openWorkspace,
  type RunFacts,
  startSandbox,
} from "../src/index.ts";

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
  const claims = [{ kind: "message-elsewhere" as const, detail: "ou_3" }];
  const tool = { name: "message", effects: "external" as const };
  const floor = new Map(facts.map((each, index) => [index, each]));
  const perCall = (work: (index: number) => unknown): number => {
    for (let i = 0; i < rounds / 10; i++) work(i % 3);
    const start = performance.now();
    for (let i = 0; i < rounds; i++) work(i % 3);
    return ((performance.now() - start) * 1_000) / rounds;
  };
  const lookUp = perCall((index) => floor.get(index));
  const decision = perCall((index) => decide(policy, { tool, claims, facts: facts[index] ?? OWNER }));
  console.log(`decision: ${decision.toFixed(2)} µs (a look-up in a Map: ${lookUp.toFixed(3)} µs)`);
}

async function benchCommands(): Promise<void> {
  const sandbox = await startSandbox();
  if (sandbox.rung !== "bubblewrap") return console.log(`no commands: ${sandbox.reason}`);
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
    await labels.add(foreign);
    const workspace = await openWorkspace({ dir, labels });
    const tool = createExecTool({ workspace, sandbox });
    const runner = createToolRunner({ tools: [tool], policy: { allow: ["exec"] }, record: () => {} });
    const command = async (facts: RunFacts): Promise<void> => {
      const run = runner.forRun(createRunState(facts));
      await run.call("exec", { command: "true" }, { callId: "1", signal: AbortSignal.timeout(10_000) });
    };
    const plain = await median(() => void spawnSync(sandbox.shell, ["-c", "true"]));
    const owner = await median(() => command(OWNER));
    const member = await median(() => command(MEMBER));
    const row = (who: string, ms: number) =>
      console.log(`command of ${who}: ${ms.toFixed(1)} ms, ${(ms - plain).toFixed(1)} ms over a plain start`);
    row("an owner, 20 files covered", owner);
    row("a member, 1,000 files compared before and after", member);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function median(work: () => void | Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 31; i++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times.toSorted((a, b) => a - b)[15] ?? 0;
}
