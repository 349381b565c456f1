import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import { createBubblewrap } from "./bubblewrap.ts";
import { type CgroupOptions, type CommandGroups, openCommandGroups } from "./cgroups.ts";
import { listInheritedDescriptors } from "./descriptors.ts";
import { type OpenDomainProxy, openDomainProxy } from "./network/proxy.ts";
import { followProgram, startProgram } from "./process.ts";
import { findProgram, findShell } from "./programs.ts";
import { createSeccompFilter } from "./seccomp.ts";
import { runSelfTest } from "./self-test.ts";
import { createLimitedShell, getCommandVariable } from "./shell.ts";
import { supportsTerminal } from "./terminal.ts";
import { getTimeout, type Sandbox, type SandboxLimits, type SandboxSetting } from "./types.ts";

export interface StartSandboxOptions {
  /** `none` runs commands without a sandbox. Default: `default`. */
  readonly setting?: SandboxSetting;
  readonly limits?: Partial<SandboxLimits>;
  /** Absolute paths of additional folders that commands may read, for example of a language runtime. */
  readonly readOnly?: readonly string[];
  /**
   * Absolute path of a folder with the operator's own programs. Commands can read it, and its `bin` is the last entry
   * of their `PATH`.
   */
  readonly programs?: string;
  /**
   * Folders in which the self-test plants files that must stay unreadable. Default: the home and the temporary folder.
   */
  readonly canaryDirs?: readonly string[];
  /** Search path for `bwrap`. Default: the gateway's `PATH`. */
  readonly searchPath?: string;
  /** Opens the proxy through which commands reach their allowed hosts. Default: {@link openDomainProxy}. */
  readonly openProxy?: OpenDomainProxy;
  /** Location of the cgroup files. Default: the system's location. */
  readonly cgroups?: CgroupOptions;
  /** Default: `process.platform`. */
  readonly platform?: NodeJS.Platform;
}

const DEFAULT_LIMITS: SandboxLimits = {
  timeoutMs: 60_000,
  backgroundMs: 3_600_000,
  processes: 256,
  memoryBytes: 1_073_741_824,
  diskBytes: 1_073_741_824,
  scratchBytes: 268_435_456,
  outputChars: 15_000,
};

/** The complete environment of a command. The gateway's own environment contains secrets and is not passed on. */
const ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/tmp",
  TMPDIR: "/tmp",
  USER: "agent",
  LANG: "C.UTF-8",
  TERM: "dumb",
};

/** Returns the environment of all commands, or undefined if commands cannot run. */
export function getCommandEnvironment(
  setting: SandboxSetting,
  programs?: string,
): Readonly<Record<string, string>> | undefined {
  if (setting === "off") return undefined;
  const usual =
    setting === "default"
      ? ENVIRONMENT
      : {
          ...ENVIRONMENT,
          HOME: homedir(),
          TMPDIR: tmpdir(),
          PATH: process.env["PATH"] ?? ENVIRONMENT.PATH,
        };
  return programs === undefined ? usual : { ...usual, PATH: `${usual.PATH}:${join(programs, "bin")}` };
}

/**
 * Starts the configured sandbox and verifies it with a self-test. If it cannot start, the returned sandbox is
 * `disabled` and has a reason; commands never run with less isolation than configured. Never rejects.
 *
 * @example
 * const sandbox = await startSandbox({ setting: "default", limits: { timeoutMs: 30_000 } }); const exec =
 * createExecTool({ workspace, sandbox });
 */
export async function startSandbox(options: StartSandboxOptions = {}): Promise<Sandbox> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const setting = options.setting ?? "default";
  try {
    switch (setting) {
      case "off":
        return createDisabled(limits, "exec is turned off in the configuration.");
      case "none":
        return await createUnsandboxed(options, limits);
      case "default":
        return await startBubblewrap(options, limits);
    }
  } catch (error) {
    return createDisabled(limits, reasonOf(error));
  }
}

function createDisabled(limits: SandboxLimits, reason: string): Sandbox {
  return {
    level: "disabled",
    reason,
    network: false,
    limits,
    env: {},
    shell: "",
    notes: [],
    run: () => Promise.reject(new Error(reason)),
  };
}

/** Describes the limits that the kernel enforces on this machine and those that the watchdog checks. */
function describeLimits(groups: CommandGroups | undefined): string {
  return groups === undefined
    ? "The kernel limits time, output, the size of a file and the processes of a user. Memory (private and shared) and disk growth are checked ten times a second, because no cgroup can be created here (under systemd: Delegate=memory pids)."
    : `The kernel limits time, output, the size of a file, and memory and processes of a whole command (cgroup ${groups.version}). Disk growth is checked ten times a second.`;
}

async function createUnsandboxed(options: StartSandboxOptions, limits: SandboxLimits): Promise<Sandbox> {
  const groups = openCommandGroups(limits, options.cgroups);
  const shell = await findShell();
  const env = { ...getCommandEnvironment("none", options.programs) };
  return {
    level: "none",
    network: true,
    limits,
    env,
    shell,
    notes: [
      "Without a sandbox, a program that leaves its process group can outlive its command.",
      describeLimits(groups),
    ],
    async run(request) {
      request.signal.throwIfAborted();
      const started = startProgram({
        ...createLimitedShell(shell, limits, false),
        groups,
        env: { ...request.env, ...env, ...getCommandVariable(request.script) },
        cwd: request.cwd,
        hasInput: request.input !== undefined,
        descriptors: 0,
      });
      const { stderr, ...outcome } = await followProgram(started, {
        disk: request.folders.dir,
        limits,
        timeoutMs: getTimeout(request, limits),
        input: request.input,
        outputChars: request.outputChars ?? limits.outputChars,
        signal: request.signal,
        onOutput: request.onOutput,
      });
      return outcome;
    },
  };
}

async function startBubblewrap(options: StartSandboxOptions, limits: SandboxLimits): Promise<Sandbox> {
  const platform = options.platform ?? process.platform;
  if (platform !== "linux") {
    return createDisabled(
      limits,
      `the sandbox needs Linux; on ${platform} exec works only with the setting \`none\`.`,
    );
  }
  const program = await findProgram("bwrap", options.searchPath ?? process.env["PATH"] ?? "");
  if (program === undefined) {
    return createDisabled(
      limits,
      "bubblewrap is not installed (Debian and Ubuntu: apt-get install bubblewrap).",
    );
  }
  const groups = openCommandGroups(limits, options.cgroups);
  const notes = [describeLimits(groups)];
  if (process.getuid?.() === 0 && groups === undefined) {
    notes.push(
      "The gateway runs as root: commands get an unprivileged id in the sandbox, but the kernel does not limit root's processes, so only the watchdog does. Use an ordinary user if you can.",
    );
  }
  const filter = createSeccompFilter(process.arch);
  if (filter === undefined) {
    notes.push(
      `Sockets, set-user-id files and hidden memory are not blocked here: there is no filter for ${process.arch}.`,
    );
  }
  const descriptors = listInheritedDescriptors();
  const sandbox = createBubblewrap({
    program,
    filter,
    shell: await findShell(),
    limits,
    env: { ...getCommandEnvironment("default", options.programs) },
    readOnly: [...(options.readOnly ?? []), ...(options.programs === undefined ? [] : [options.programs])],
    notes,
    groups,
    descriptors,
    openProxy: options.openProxy ?? ((domains) => openDomainProxy({ domains })),
  });
  const problem = await runSelfTest(sandbox, options.canaryDirs ?? [homedir(), tmpdir()], descriptors);
  if (problem !== undefined) return createDisabled(limits, problem);
  const terminal = await supportsTerminal(sandbox);
  if (!terminal) notes.push("Commands get no terminal (`pty`): `script` of util-linux is not installed.");
  return { ...sandbox, terminal };
}
