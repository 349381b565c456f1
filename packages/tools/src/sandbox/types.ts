import type { Readable } from "node:stream";

/** The configured setting: `default` is the strictest rung that allows exec at all. */
export type SandboxSetting = "default" | "off" | "none";

export interface SandboxLimits {
  /** Milliseconds of one command; default 60,000. */
  readonly timeoutMs: number;
  /** Milliseconds of a command in the background; default an hour. */
  readonly backgroundMs: number;
  /** Processes and threads at once; default 256. */
  readonly processes: number;
  /** Bytes of memory, for one process and for all together; default 1 GiB. */
  readonly memoryBytes: number;
  /** Bytes that one command may add to the disk of the workspace, for one file and in all; default 1 GiB. */
  readonly diskBytes: number;
  /** Bytes of the scratch folder `/tmp`, which each command finds empty; default 256 MiB. */
  readonly scratchBytes: number;
  /**
   * UTF-16 units of output kept, 70 % from its start and 30 % from its end,
   * where a request does not say; default 15,000.
   */
  readonly outputChars: number;
}

/** The folders a command sees. A `Workspace` is one. */
export interface SandboxFolders {
  /** Absolute, links resolved. Read and written. */
  readonly dir: string;
  /** Absolute. Read. */
  readonly readOnlyDirs: readonly string[];
  /** Absolute. Hidden if they lie inside one of the others. */
  readonly forbidden: readonly string[];
}

/** A file or folder that a command does not see. */
export interface Cover {
  /** Absolute; never a link. */
  readonly path: string;
  readonly kind: "file" | "folder";
  /** A folder inside it that the command sees anyway. */
  readonly except?: string;
}

/** One command. */
export interface SandboxRequest {
  /** Shell text. */
  readonly script: string;
  readonly folders: SandboxFolders;
  /** Absolute, inside `folders.dir`. */
  readonly cwd: string;
  /** Names at the top of `folders.dir` that must stay unchanged, whether they exist or not. */
  readonly protect: { readonly files: readonly string[]; readonly folders: readonly string[] };
  /**
   * Places in `folders.dir` that the command must not see, outer ones first. Nothing covers them on the rung `none`.
   */
  readonly covers: readonly Cover[];
  /** Additional environment variables of the command; those that the sandbox gives all commands stay. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** Hosts that the command reaches through a proxy; default none. On the rung `none` nothing is kept from it. */
  readonly domains?: readonly string[];
  readonly signal: AbortSignal;
  /** Milliseconds; at most the limit, which is the default. */
  readonly timeoutMs?: number;
  /** Whether it runs in the background, within the limit for that. Default no. */
  readonly background?: boolean;
  /** What it reads as its input. Default: nothing. */
  readonly input?: Readable;
  /** Whether it has a terminal of its own. Only if the sandbox offers one. */
  readonly terminal?: boolean;
  /** UTF-16 units of output to keep; default the limit's. */
  readonly outputChars?: number;
  /** Called as output arrives, with what is kept so far. */
  readonly onOutput?: (output: string) => void;
}

/** How a command ended. */
export interface SandboxOutcome {
  /** Absent when a signal or we ended it. */
  readonly exitCode?: number;
  readonly signal?: string;
  /** Why we ended it. */
  readonly stopped?: "timeout" | "abort" | "processes" | "memory" | "disk" | "output";
  /** Standard output and error as they came, shortened in the middle. */
  readonly output: string;
  /** UTF-16 units of the whole output. */
  readonly outputChars: number;
  /** Milliseconds. */
  readonly durationMs: number;
}

/** Where commands run. */
export interface Sandbox {
  /** `disabled`: nothing runs, and `reason` says why. */
  readonly rung: "bubblewrap" | "none" | "disabled";
  readonly reason?: string;
  /** Whether a command can have a terminal of its own. Absent: it cannot. */
  readonly terminal?: boolean;
  /** Whether a command can reach the network. */
  readonly network: boolean;
  readonly limits: SandboxLimits;
  /** The whole environment of a command. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path of the shell, links resolved; empty when disabled. */
  readonly shell: string;
  /** What people should know about this rung on this machine. */
  readonly notes: readonly string[];
  /** Runs one command. Rejects when it could not be started at all. */
  run(request: SandboxRequest): Promise<SandboxOutcome>;
}

/** How long a command may take, in milliseconds. */
export function timeOf({ timeoutMs, background }: SandboxRequest, limits: SandboxLimits): number {
  const most = background === true ? limits.backgroundMs : limits.timeoutMs;
  return Math.min(timeoutMs ?? most, most);
}
