import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { OutputBuffer } from "./output.ts";
import type { SandboxLimits, SandboxOutcome } from "./types.ts";

export interface ProcessSpec {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly limits: SandboxLimits;
  readonly timeoutMs: number;
  readonly outputChars: number;
  readonly signal: AbortSignal;
  readonly onOutput?: ((output: string) => void) | undefined;
  /** Written to descriptors 3, 4 …, which are then closed. */
  readonly inputs?: readonly string[];
}

/** As `SandboxOutcome`; `stderr` is what came beside the output (a launcher's own complaints). */
export interface ProcessOutcome extends SandboxOutcome {
  readonly stderr: string;
}

const FIRST_WATCH_MS = 50;
const WATCH_MS = 250;
/** After the end: how long something that left the process group may hold the output open. */
const CLOSE_GRACE_MS = 500;
/** A command that writes without end would keep the gateway busy for all of its time. UTF-16 units. */
const MAX_OUTPUT_CHARS = 50_000_000;
const STDERR_CHARS = 4_000;

/**
 * Runs a program in a process group of its own, gathers its output within bounds, watches the whole tree and ends it
 * on abort, time-out or excess.
 */
export async function runProcess(spec: ProcessSpec): Promise<ProcessOutcome> {
  spec.signal.throwIfAborted();
  const started = performance.now();
  const inputs = spec.inputs ?? [];
  const child = spawn(spec.file, [...spec.args], {
    cwd: spec.cwd,
    env: { ...spec.env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe", ...inputs.map(() => "pipe" as const)],
  });
  const output = new OutputBuffer(spec.outputChars);
  const stderr = new OutputBuffer(STDERR_CHARS);
  let stopped: SandboxOutcome["stopped"];

  const kill = (why: NonNullable<SandboxOutcome["stopped"]>): void => {
    stopped ??= why;
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      child.kill("SIGKILL");
    }
  };

  gather(child.stdout, (text) => {
    output.push(text);
    if (output.length > MAX_OUTPUT_CHARS) kill("output");
    spec.onOutput?.(output.toString());
  });
  gather(child.stderr, (text) => stderr.push(text));
  for (const [i, text] of inputs.entries()) {
    const pipe = child.stdio[i + 3];
    if (pipe && "write" in pipe) pipe.on("error", () => {}).end(text);
  }

  const timer = setTimeout(() => kill("timeout"), spec.timeoutMs);
  const aborted = (): void => kill("abort");
  spec.signal.addEventListener("abort", aborted, { once: true });
  const watch = startWatch(() => child.pid, spec.limits, kill);
  try {
    const end = await new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
      let grace: NodeJS.Timeout | undefined;
      child.once("error", reject);
      child.once("exit", (code, signal) => {
        grace = setTimeout(() => {
          child.stdout?.destroy();
          child.stderr?.destroy();
          resolve({ code, signal });
        }, CLOSE_GRACE_MS);
      });
      child.once("close", (code, signal) => {
        clearTimeout(grace);
        resolve({ code, signal });
      });
    });
    return {
      ...(end.code === null || stopped !== undefined ? {} : { exitCode: end.code }),
      ...(end.signal === null ? {} : { signal: end.signal }),
      ...(stopped === undefined ? {} : { stopped }),
      output: output.toString(),
      outputChars: output.length,
      durationMs: Math.round(performance.now() - started),
      stderr: stderr.toString(),
    };
  } finally {
    clearTimeout(timer);
    watch.stop();
    spec.signal.removeEventListener("abort", aborted);
  }
}

function gather(stream: Readable | null, take: (text: string) => void): void {
  if (stream === null) return;
  const decoder = new StringDecoder("utf8");
  stream.on("data", (chunk: Buffer) => take(decoder.write(chunk)));
  stream.on("end", () => {
    const rest = decoder.end();
    if (rest !== "") take(rest);
  });
  stream.on("error", () => {});
}

/**
 * Looks at the tree of processes every quarter second. The kernel's own limits (set by the shell that starts the
 * command) count for one process or not for root at all; this one counts the tree.
 */
function startWatch(
  pid: () => number | undefined,
  limits: SandboxLimits,
  kill: (why: "processes" | "memory") => void,
): { stop(): void } {
  if (process.platform !== "linux") return { stop: () => {} };
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const look = async (): Promise<void> => {
    const root = pid();
    const use = root === undefined ? undefined : await treeUse(root, limits.processes);
    if (stopped) return;
    if (use !== undefined && use.tasks > limits.processes) kill("processes");
    else if (use !== undefined && use.bytes > limits.memoryBytes) kill("memory");
    timer = setTimeout(look, WATCH_MS);
  };
  timer = setTimeout(look, FIRST_WATCH_MS);
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

const PAGE_BYTES = 4_096;

/** Threads and anonymous memory of a process and its descendants; stops counting above `max`. proc(5). */
async function treeUse(root: number, max: number): Promise<{ tasks: number; bytes: number }> {
  let tasks = 0;
  let bytes = 0;
  const queue = [root];
  for (let pid = queue.shift(); pid !== undefined && tasks <= max; pid = queue.shift()) {
    const base = `/proc/${pid}`;
    const [stat, statm, children] = await Promise.all([
      readFile(`${base}/stat`, "utf8").catch(() => ""),
      readFile(`${base}/statm`, "latin1").catch(() => ""),
      readFile(`${base}/task/${pid}/children`, "latin1").catch(() => ""),
    ]);
    // The name in `stat` may hold anything, so fields are counted after its closing parenthesis: threads are the 18th.
    tasks += Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[17] ?? 1) || 1;
    const [, resident = "0", shared = "0"] = statm.split(" ");
    bytes += (Number(resident) - Number(shared)) * PAGE_BYTES;
    queue.push(...children.split(" ").filter(Boolean).map(Number));
  }
  return { tasks, bytes };
}
