// What an edit of a large file costs, and a search over many files beside ripgrep alone.
import { execFileSync } from "node:child_process";
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
const ROUNDS = 15;
const FILES = 10_000;

/** Exit code 1 where a goal is missed. */
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
    let round = 0;
    const edit = await median(async () => {
      const change = { old_string: `the end ${round}\n`, new_string: `the end ${++round}\n` };
      const { isError } = await call("edit", { file_path: "large.txt", ...change });
      if (isError === true) throw new Error("the edit failed");
    });
    console.log(`edit of a file of 1 MB: ${edit.toFixed(1)} ms (goal ${GOALS.editMs} ms)`);
    if (edit > GOALS.editMs) process.exitCode = 1;

    plant(join(dir, "many"));
    const alone = await ripgrepAlone(join(dir, "many"));
    const grep = await median(async () => {
      await call("grep", { pattern: "needle_\\d+", path: "many" });
    });
    if (alone === undefined) {
      console.log(
        `grep over ${FILES} files: ${grep.toFixed(0)} ms by its own search; ripgrep is not installed`,
      );
      return;
    }
    const ratio = grep / alone;
    console.log(
      `grep over ${FILES} files: ${grep.toFixed(0)} ms, ${ratio.toFixed(2)} times ripgrep alone (goal ${GOALS.grepRatio})`,
    );
    if (ratio > GOALS.grepRatio) process.exitCode = 1;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A needle in one file of a hundred. */
function plant(folder: string): void {
  const text = "const value = compute(first, second);\n".repeat(60);
  for (let n = 0; n < FILES; n++) {
    const place = join(folder, `part${n % 100}`);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `file${n}.ts`), n % 100 === 0 ? `${text}needle_${n}\n` : text);
  }
}

async function ripgrepAlone(folder: string): Promise<number | undefined> {
  try {
    return await median(
      () => void execFileSync("rg", ["--no-config", "-n", "needle_\\d+", folder], { stdio: "pipe" }),
    );
  } catch {
    return undefined;
  }
}

async function median(work: () => Promise<void> | void): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}
