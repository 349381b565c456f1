import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { CommandGroups } from "./cgroups.ts";
import { OutputBuffer } from "./output.ts";
import type { SandboxLimits, SandboxOutcome } from "./types.ts";
import { startWatch } from "./watch.ts";

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
  /** What it reads as its input. Default: nothing. */
  readonly input?: Readable | undefined;
  /** Written to descriptors 3, 4 …, which are then closed. */
  readonly inputs?: readonly (string | Buffer)[];
  /** Where the kernel limits all processes of the program together. */
  readonly groups?: CommandGroups | undefined;
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

/**
 * Runs a program in a process group of its own, gathers its output within bounds, watches the whole tree and ends it
 * on abort, time-out or excess.
 */
export async function runProcess(spec: ProcessSpec): Promise<ProcessOutcome> {
  spec.signal.throwIfAborted();
  const started = performance.now();
  const inputs = spec.inputs ?? [];
  const group = spec.groups?.create();
  const program = group?.enter(spec) ?? spec;
  const child = spawn(program.file, [...program.args], {
    cwd: spec.cwd,
    env: { ...spec.env },
    detached: true,
    stdio: [
      spec.input === undefined ? "ignore" : "pipe",
      "pipe",
      "pipe",
      ...inputs.map(() => "pipe" as const),
    ],
  });
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
