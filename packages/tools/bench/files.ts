// Measures an edit of a large file, and a search over many files. ripgrep alone runs right before each search, so that
// other load of the machine affects both.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import {
  createEditTool,
  createGrepTool,
  createRunState,
  createSearch,
  createToolRunner,
  openWorkspace,
  type RunFacts,
} from "../src/index.ts";

const GOALS = { editMs: 10, grepRatio: 1.5 };
const ROUNDS = 25;
const FILES = 10_000;

/** Exits with code 1 if a goal is missed. */
export async function benchFiles(facts: RunFacts): Promise<void> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-bench-")));
  try {
    const workspace = await openWorkspace({ dir });
    const tools = [createEditTool({ workspace }), createGrepTool({ workspace, search: createSearch() })];
    const runner = createToolRunner({ tools, policy: { allow: ["*"] }, record: () => {} });
    const run = runner.forRun(createRunState(facts));
    const { signal } = new AbortController();
    const call = (name: string, args: object) => run.call(name, args, { callId: "1", signal });

    const line = "a line of sixty-three characters, of which there are very many.\n";
    writeFileSync(join(dir, "large.txt"), `${line.repeat(16_384)}the end 0\n`);
    const edits: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const change = { old_string: `the end ${round}\n`, new_string: `the end ${round + 1}\n` };
      const took = await timeOf(async () => {
        const { isError } = await call("edit", { file_path: "large.txt", ...change });
        if (isError === true) throw new Error("the edit failed");
      });
      edits.push(took);
    }
    const edit = median(edits);
    console.log(`edit of a file of 1 MB: ${edit.toFixed(1)} ms (goal ${GOALS.editMs} ms)`);
    if (edit > GOALS.editMs) process.exitCode = 1;

    plant(join(dir, "many"));
    await benchGrep(join(dir, "many"), async () => {
      await call("grep", { pattern: "needle_\\d+", path: "many" });
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Creates files of which one in a hundred contains the search term. */
function plant(folder: string): void {
  const text = "const value = compute(first, second);\n".repeat(60);
  for (let n = 0; n < FILES; n++) {
    const place = join(folder, `part${n % 100}`);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `file${n}.ts`), n % 100 === 0 ? `${text}needle_${n}\n` : text);
  }
}

async function benchGrep(folder: string, grep: () => Promise<void>): Promise<void> {
  const isThere = await ripgrepAlone(folder).then(
    () => true,
    () => false,
  );
  if (!isThere) return console.log(`grep over ${FILES} files: ripgrep, to compare it with, is not installed`);
  const pairs: { readonly alone: number; readonly whole: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const alone = await timeOf(() => ripgrepAlone(folder));
    pairs.push({ alone, whole: await timeOf(grep) });
  }
  const whole = median(pairs.map((pair) => pair.whole));
  const ratio = median(pairs.map((pair) => pair.whole / pair.alone));
  console.log(
    `grep over ${FILES} files: ${whole.toFixed(0)} ms, ${ratio.toFixed(2)} times ripgrep alone (goal ${GOALS.grepRatio})`,
  );
  if (ratio > GOALS.grepRatio) process.exitCode = 1;
}

function ripgrepAlone(folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const args = ["--no-config", "-n", "needle_\\d+", folder];
    const child = spawn("rg", args, { stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.resume();
    child.once("error", reject).once("close", () => resolve());
  });
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
