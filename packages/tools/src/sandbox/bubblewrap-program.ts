import {
  ARGUMENTS,
  addBridge,
  type Command,
  createUserFiles,
  FILTER,
  formatArguments,
  GROUP_FILE,
  ISOLATION,
  PASSWD_FILE,
} from "./bubblewrap-args.ts";
import type { CommandGroups } from "./cgroups.ts";
import { withoutDescriptors } from "./descriptors.ts";
import { startProgram } from "./process.ts";
import type { ProgramRequest, SandboxedProgram, SandboxLimits } from "./types.ts";
import { startWatch } from "./watch.ts";

export interface ProgramOptions {
  /** Absolute path of `bwrap`. */
  readonly program: string;
  readonly shell: string;
  readonly limits: SandboxLimits;
  readonly env: Readonly<Record<string, string>>;
  readonly filter: Buffer | undefined;
  readonly groups: CommandGroups | undefined;
  readonly descriptors: readonly string[];
  /** Arguments that mount the system's folders. */
  readonly system: readonly string[];
}

/** Starts a program that runs until it ends or is killed, and that communicates over its standard input and output. */
export function openProgram(options: ProgramOptions, request: ProgramRequest): SandboxedProgram {
  const { limits, filter, groups, shell, descriptors } = options;
  const files = request.files.map(({ content }) => content);
  const data = [...createUserFiles(), ...(filter === undefined ? [] : [filter]), ...files];
  const bridge = addBridge(request.proxy, limitFiles(limits, request));
  const args = formatArguments([
    ...getProgramArgs(options, request, 4 + data.length - files.length),
    ...bridge.mounts,
    ...["--remount-ro", "/", "--chdir", request.cwd],
  ]);
  const { child, group } = startProgram({
    ...withoutDescriptors(descriptors, shell, {
      file: options.program,
      args: ["--args", ARGUMENTS, "--", bridge.command.file, ...bridge.command.args],
    }),
    env: options.env,
    cwd: "/",
    hasInput: true,
    descriptors: 1 + data.length,
    groups,
  });
  for (const [index, content] of [args, ...data].entries()) {
    const pipe = child.stdio[index + 3];
    if (pipe && "write" in pipe) pipe.on("error", () => {}).end(content);
  }
  let stopped: SandboxedProgram["stopped"];
  const kill = (why: NonNullable<SandboxedProgram["stopped"]>): void => {
    stopped ??= why;
    killGroup(child);
  };
  const watch = startWatch(() => child.pid, { limits, disk: undefined, group }, kill);
  child.once("exit", () => {
    watch.stop();
    if (group?.wasOutOfMemory()) stopped ??= "memory";
    void group?.remove();
  });
  child.once("error", () => watch.stop());
  return {
    child,
    get stopped() {
      return stopped;
    },
    kill: () => killGroup(child),
  };
}

/** @param firstFile the launcher's descriptor of the first file */
function getProgramArgs(
  { limits, filter, system, env }: ProgramOptions,
  request: ProgramRequest,
  firstFile: number,
): readonly string[] {
  return [
    ...ISOLATION,
    ...system,
    ...["--size", String(limits.scratchBytes), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...["--size", String(limits.scratchBytes), "--tmpfs", "/tmp"],
    ...["--ro-bind-data", PASSWD_FILE, "/etc/passwd", "--ro-bind-data", GROUP_FILE, "/etc/group"],
    ...request.mounts.flatMap(({ from, to, writable }) => [writable ? "--bind" : "--ro-bind", from, to]),
    ...request.files.flatMap(({ path }, index) => ["--ro-bind-data", String(firstFile + index), path]),
    ...(filter === undefined ? [] : ["--seccomp", FILTER]),
    ...Object.entries({ ...env, ...request.env }).flatMap(([name, value]) => ["--setenv", name, value]),
  ];
}

/** Limits the size of each file that the program writes. The kernel ends a process that exceeds it. */
function limitFiles({ diskBytes }: SandboxLimits, { file, args }: ProgramRequest): Command {
  // In blocks of 1,024 bytes; some shells use blocks of 512 bytes.
  const setup = `ulimit -c 0; ulimit -f ${Math.floor(diskBytes / 1024)}; exec "$0" "$@"`;
  return { file: "/bin/sh", args: ["-c", setup, file, ...args] };
}

function killGroup(child: SandboxedProgram["child"]): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL");
  }
}
