import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { CommandGroup, CommandGroups } from "./cgroups.ts";
import { OutputBuffer } from "./output.ts";
import type { SandboxLimits, SandboxOutcome } from "./types.ts";
import { startWatch } from "./watch.ts";

/** What it takes to start a program. */
export interface ProgramSpec {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Whether it is given something to read as its input. */
  readonly hasInput: boolean;
  /** How many descriptors besides it reads from: 3, 4 … */
  readonly descriptors: number;
  /** Descriptors of this process that it gets after those. Default: none. */
  readonly folders?: readonly number[];
  /** Where the kernel limits all processes of the program together. */
  readonly groups: CommandGroups | undefined;
}

/** A program that runs, in a process group of its own. */
export interface StartedProgram {
  readonly child: ChildProcess;
  readonly group: CommandGroup | undefined;
}

/** How a program that runs is followed to its end. */
export interface FollowSpec {
  readonly limits: SandboxLimits;
  readonly timeoutMs: number;
  readonly outputChars: number;
  readonly signal: AbortSignal;
  readonly onOutput?: ((output: string) => void) | undefined;
  /** What it reads as its input. Default: nothing. */
  readonly input?: Readable | undefined;
  /** Written to descriptors 3, 4 …, which are then closed. */
  readonly inputs?: readonly (string | Buffer)[];
  /** A folder of the disk that the program writes to. */
  readonly disk: string;
}

/** As `SandboxOutcome`; `stderr` is what came beside the output (a launcher's own complaints). */
export interface ProcessOutcome extends SandboxOutcome {
  readonly stderr: string;
}

/** After the end: how long something that left the process group may hold the output open. */
const CLOSE_GRACE_MS = 500;
/** A command that writes without end would keep the gateway busy for all of its time. UTF-16 units. */
const MAX_OUTPUT_CHARS = 50_000_000;
const STDERR_CHARS = 4_000;

/** Starts a program in a process group of its own, and in a group of the kernel where there are such. */
export function startProgram({
  file,
  args,
  env,
  cwd,
  hasInput,
  descriptors,
  folders = [],
  groups,
}: ProgramSpec): StartedProgram {
  const group = groups?.create();
  const program = group?.enter({ file, args }) ?? { file, args };
  const pipes = Array.from({ length: descriptors }, () => "pipe" as const);
  const child = spawn(program.file, [...program.args], {
    cwd,
    env: { ...env },
    detached: true,
    // Programs tell a pipe from nothing to read: some read it to its end.
    stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe", ...pipes, ...folders],
  });
  return { child, group };
}

/** Gathers the output of a program within bounds, watches the whole tree and ends it on abort, time-out or excess. */
export async function followProgram(
  { child, group }: StartedProgram,
  spec: FollowSpec,
): Promise<ProcessOutcome> {
  const started = performance.now();
  const inputs = spec.inputs ?? [];
  // A command may end before it has read all.
  if (child.stdin !== null) spec.input?.pipe(child.stdin.on("error", () => {}));
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
  const watch = startWatch(() => child.pid, { ...spec, group }, kill);
  try {
    const end = await endOf(child);
    if (group?.wasOutOfMemory()) stopped ??= "memory";
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
    // Nobody waits until the kernel has forgotten its last process.
    void group?.remove();
  }
}

/** Of the program, and of its output, for which there is a moment: whoever it left behind may hold that open. */
function endOf(
  child: ChildProcess,
): Promise<{ readonly code: number | null; readonly signal: string | null }> {
  return new Promise((resolve, reject) => {
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
