import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { CommandGroup, CommandGroups } from "./cgroups.ts";
import { OutputBuffer } from "./output.ts";
import type { SandboxLimits, SandboxOutcome } from "./types.ts";
import { startWatch } from "./watch.ts";

/** Options for starting a program. */
export interface ProgramSpec {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** True if the program reads from its standard input. */
  readonly hasInput: boolean;
  /** Number of additional descriptors that the program reads from, starting at 3. */
  readonly descriptors: number;
  /** Descriptors in this process that the program inherits after those. Default: none. */
  readonly folders?: readonly number[];
  /** Kernel limits for all processes of the program in total. */
  readonly groups: CommandGroups | undefined;
}

/** A running program. It is the leader of a process group. */
export interface StartedProgram {
  readonly child: ChildProcess;
  readonly group: CommandGroup | undefined;
}

/** Options for following a program until it ends. */
export interface FollowSpec {
  readonly limits: SandboxLimits;
  readonly timeoutMs: number;
  readonly outputChars: number;
  readonly signal: AbortSignal;
  readonly onOutput?: ((output: string) => void) | undefined;
  /** Standard input of the program. Default: none. */
  readonly input?: Readable | undefined;
  /** Data written to descriptors 3, 4 and so on, which are then closed. */
  readonly inputs?: readonly (string | Buffer)[];
  /** A folder on the disk that the program writes to. */
  readonly disk: string;
}

/** A `SandboxOutcome` with the launcher's error output as a separate field. */
export interface ProcessOutcome extends SandboxOutcome {
  readonly stderr: string;
}

/**
 * Time for which a process outside the process group may keep the output open after the program has ended, in
 * milliseconds.
 */
const CLOSE_GRACE_MS = 500;
/**
 * Maximum length of the whole output, in UTF-16 units. A command that writes endlessly would otherwise keep the gateway
 * busy until its timeout.
 */
const MAX_OUTPUT_CHARS = 50_000_000;
const STDERR_CHARS = 4_000;

/** Starts a program in a new process group and, if available, in a control group of the kernel. */
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
    // Some programs detect a pipe and read it until it ends.
    stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe", ...pipes, ...folders],
  });
  return { child, group };
}

/**
 * Collects the output of a program, watches its process tree, and kills it on abort, timeout or if it exceeds a limit.
 */
export async function followProgram(
  { child, group }: StartedProgram,
  spec: FollowSpec,
): Promise<ProcessOutcome> {
  const started = performance.now();
  const inputs = spec.inputs ?? [];
  // A command may end before it has read all of its input.
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

  collect(child.stdout, (text) => {
    output.push(text);
    if (output.length > MAX_OUTPUT_CHARS) kill("output");
    spec.onOutput?.(output.toString());
  });
  collect(child.stderr, (text) => stderr.push(text));
  for (const [i, text] of inputs.entries()) {
    const pipe = child.stdio[i + 3];
    if (pipe && "write" in pipe) pipe.on("error", () => {}).end(text);
  }

  const timer = setTimeout(() => kill("timeout"), spec.timeoutMs);
  const aborted = (): void => kill("abort");
  spec.signal.addEventListener("abort", aborted, { once: true });
  const watch = startWatch(() => child.pid, { ...spec, group }, kill);
  try {
    const end = await waitForEnd(child);
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
    // Not awaited, because the kernel still counts the last processes for a moment.
    void group?.remove();
  }
}

/**
 * Waits for the program and its output to end. A process that the program left behind may keep the output open, so the
 * second wait is short.
 */
function waitForEnd(
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

function collect(stream: Readable | null, take: (text: string) => void): void {
  if (stream === null) return;
  const decoder = new StringDecoder("utf8");
  stream.on("data", (chunk: Buffer) => take(decoder.write(chunk)));
  stream.on("end", () => {
    const rest = decoder.end();
    if (rest !== "") take(rest);
  });
  stream.on("error", () => {});
}
