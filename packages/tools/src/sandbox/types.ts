import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { EgressProxy } from "./network/proxy.ts";

/** The configured setting: `default` runs commands in a sandbox, `none` without one, and `off` disables commands. */
export type SandboxSetting = "default" | "off" | "none";

export interface SandboxLimits {
  /** Time limit for a command, in milliseconds. Default: 60,000. */
  readonly timeoutMs: number;
  /** Time limit for a background command, in milliseconds. Default: one hour. */
  readonly backgroundMs: number;
  /** Maximum number of concurrent processes and threads. Default: 256. */
  readonly processes: number;
  /** Maximum memory in bytes, for each process and in total. Default: 1 GiB. */
  readonly memoryBytes: number;
  /** Maximum number of bytes that a command may add to the workspace's disk, per file and in total. Default: 1 GiB. */
  readonly diskBytes: number;
  /**
   * Size of the scratch folder `/tmp`, in bytes. The folder is empty at the start of each command. Default: 256 MiB.
   */
  readonly scratchBytes: number;
  /**
   * Maximum length of the output in UTF-16 units, 70 % from its start and 30 % from its end. A request can set a
   * different limit. Default: 15,000.
   */
  readonly outputChars: number;
}

/** The folders that a command sees. They come from a `Workspace`. */
export interface SandboxFolders {
  /** Absolute path with links resolved. Readable and writable. */
  readonly dir: string;
  /** Absolute paths. Readable. */
  readonly readOnlyDirs: readonly string[];
  /** Absolute paths. Hidden if they are inside one of the other folders. */
  readonly forbidden: readonly string[];
}

/** A file or folder that is hidden from a command. */
export interface Cover {
  /** Absolute path. Never a link. */
  readonly path: string;
  readonly kind: "file" | "folder";
  /** A folder inside this one that stays visible. */
  readonly except?: string;
}

/** One command. */
export interface SandboxRequest {
  /** The script that the shell runs. */
  readonly script: string;
  readonly folders: SandboxFolders;
  /** Absolute path inside `folders.dir`. */
  readonly cwd: string;
  /** Names at the top of `folders.dir` that the command must not change or create. */
  readonly protect: { readonly files: readonly string[]; readonly folders: readonly string[] };
  /** Paths in `folders.dir` that are hidden from the command, outer ones first. Not applied without a sandbox. */
  readonly covers: readonly Cover[];
  /** Additional environment variables. They do not override the sandbox's variables. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Hosts that the command can reach through a proxy. Default: none. Without a sandbox, commands can reach every host.
   */
  readonly domains?: readonly string[];
  readonly signal: AbortSignal;
  /** Time limit in milliseconds, at most the configured limit. Default: the configured limit. */
  readonly timeoutMs?: number;
  /** True for a background command, which has a longer time limit. Default: false. */
  readonly background?: boolean;
  /** Standard input of the command. Default: none. */
  readonly input?: Readable;
  /** True if the command runs in a terminal. Allowed only if the sandbox supports terminals. Default: false. */
  readonly terminal?: boolean;
  /** Maximum length of the output in UTF-16 units. Default: the configured limit. */
  readonly outputChars?: number;
  /** Called when there is new output, with the shortened output so far. */
  readonly onOutput?: (output: string) => void;
}

/** The outcome of a command. */
export interface SandboxOutcome {
  /** Absent if a signal ended the command or the gateway stopped it. */
  readonly exitCode?: number;
  readonly signal?: string;
  /** The reason why the gateway stopped the command. */
  readonly stopped?: "timeout" | "abort" | "processes" | "memory" | "disk" | "output";
  /** Standard output and standard error in order of arrival, shortened in the middle. */
  readonly output: string;
  /** Length of the whole output in UTF-16 units. */
  readonly outputChars: number;
  /** Duration in milliseconds. */
  readonly durationMs: number;
}

/** A program that runs in the sandbox until it ends, for example a server. */
export interface ProgramRequest {
  /** Absolute path in the sandbox. */
  readonly file: string;
  readonly args: readonly string[];
  /** Additional environment variables. They override the sandbox's variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path in the sandbox. */
  readonly cwd: string;
  /** Files and folders of the machine, by their absolute path in the sandbox. */
  readonly mounts: readonly { readonly from: string; readonly to: string; readonly writable?: boolean }[];
  /** Additional readable files. */
  readonly files: readonly { readonly path: string; readonly content: string }[];
  /** The only connection to the network. It listens at `PROXY_PORT` of the sandbox's loopback address. */
  readonly proxy: EgressProxy;
}

/** A running program. All of its processes end with it, and with this process. */
export interface SandboxedProgram {
  readonly child: ChildProcess;
  /** The limit that the program exceeded, after it was stopped. */
  readonly stopped: "processes" | "memory" | "disk" | undefined;
  kill(): void;
}

/** An environment in which commands run. */
export interface Sandbox {
  /** If the level is `disabled`, no commands run, and `reason` explains why. */
  readonly level: "bubblewrap" | "none" | "disabled";
  readonly reason?: string;
  /** True if commands can run in a terminal. Default: false. */
  readonly terminal?: boolean;
  /** True if commands can reach the network without a proxy. */
  readonly network: boolean;
  readonly limits: SandboxLimits;
  /** The complete environment of a command. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path of the shell, with links resolved. Empty if the sandbox is disabled. */
  readonly shell: string;
  /** Notes for the operator about the isolation on this machine. */
  readonly notes: readonly string[];
  /** Runs one command. Rejects if the command could not be started. */
  run(request: SandboxRequest): Promise<SandboxOutcome>;
  /** Starts a program that runs until it ends. Absent if this sandbox cannot isolate one. */
  open?(request: ProgramRequest): SandboxedProgram;
}

/** Returns the time limit of a command in milliseconds. */
export function getTimeout({ timeoutMs, background }: SandboxRequest, limits: SandboxLimits): number {
  const limit = background === true ? limits.backgroundMs : limits.timeoutMs;
  return Math.min(timeoutMs ?? limit, limit);
}
