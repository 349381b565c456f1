import { isInside } from "../workspace/paths.ts";
import {
  ARGUMENTS,
  addBridge,
  type Command,
  createUserFiles,
  FILTER,
  formatArguments,
  GROUP_FILE,
  getSystemArgs,
  ISOLATION,
  PASSWD_FILE,
} from "./bubblewrap-args.ts";
import { openProgram } from "./bubblewrap-program.ts";
import type { CommandGroups } from "./cgroups.ts";
import { withoutDescriptors } from "./descriptors.ts";
import { type InnerFolder, withInnerFolders } from "./inner-folders.ts";
import { getCoverArgs, SYSTEM_FOLDERS, statIfExists } from "./mounts.ts";
import type { EgressProxy, OpenDomainProxy } from "./network/proxy.ts";
import { PROXY_VARIABLES } from "./network/variables.ts";
import { followProgram, type StartedProgram, startProgram } from "./process.ts";
import { protectNames } from "./protect.ts";
import { createLimitedShell, getCommandVariable } from "./shell.ts";
import { wrapInTerminal } from "./terminal.ts";
import {
  getTimeout,
  type Sandbox,
  type SandboxFolders,
  type SandboxLimits,
  type SandboxOutcome,
  type SandboxRequest,
} from "./types.ts";

export interface BubblewrapOptions {
  /** Absolute path of `bwrap`. */
  readonly program: string;
  /** Absolute path of the shell inside the sandbox. */
  readonly shell: string;
  readonly limits: SandboxLimits;
  readonly env: Readonly<Record<string, string>>;
  /** Absolute paths of additional readable folders, for example of a language runtime. */
  readonly readOnly: readonly string[];
  /** Compiled system call filter. See `seccompFilter`. */
  readonly filter: Buffer | undefined;
  readonly notes: readonly string[];
  readonly openProxy: OpenDomainProxy;
  readonly groups: CommandGroups | undefined;
  /** Descriptors in this process that commands must not inherit. */
  readonly descriptors: readonly string[];
}

/** Creates a sandbox based on Linux namespaces: a writable workspace, readable system folders, and no network. */
export function createBubblewrap(options: BubblewrapOptions): Sandbox {
  const { shell, limits, env, notes, filter, readOnly } = options;
  const system = getSystemArgs();
  const limited = createLimitedShell(shell, limits, true);
  const data = [...createUserFiles(), ...(filter === undefined ? [] : [filter])];
  const start = (command: Command, hasInput: boolean, folders: readonly number[]): StartedProgram =>
    startProgram({
      ...withoutDescriptors(options.descriptors, shell, {
        file: options.program,
        args: ["--args", ARGUMENTS, "--", command.file, ...command.args],
      }),
      env,
      cwd: "/",
      hasInput,
      descriptors: 1 + data.length,
      folders,
      groups: options.groups,
    });
  return {
    level: "bubblewrap",
    network: false,
    limits,
    env,
    shell,
    notes,
    open: (request) => openProgram({ ...options, system }, request),
    async run(request): Promise<SandboxOutcome> {
      const { domains = [], input, signal } = request;
      signal.throwIfAborted();
      const protection = protectNames(request);
      let proxy: EgressProxy | undefined;
      try {
        if (domains.length > 0) proxy = await options.openProxy(domains);
        signal.throwIfAborted();
        const bridge = proxy && addBridge(proxy, limited);
        const script = request.terminal === true ? wrapInTerminal(request.script, shell) : request.script;
        const variables = { ...env, ...getCommandVariable(script), ...(bridge && PROXY_VARIABLES) };
        const mounts = [...protection.args, ...(bridge?.mounts ?? [])];
        const readable = [...readOnly, ...request.folders.readOnlyDirs];
        const { args, program } = withInnerFolders(request.folders.dir, readable, (inner) => {
          const folders = getFolderArgs(request.folders, readable, getInnerMounts(inner, 4 + data.length));
          return {
            args: formatArguments(
              getCommandArgs({ ...options, system }, request, [...folders, ...mounts], variables),
            ),
            program: start(
              bridge?.command ?? limited,
              input !== undefined,
              inner.map((each) => each.descriptor),
            ),
          };
        });
        const { stderr, ...outcome } = await followProgram(program, {
          limits,
          timeoutMs: getTimeout(request, limits),
          input,
          outputChars: request.outputChars ?? limits.outputChars,
          signal,
          onOutput: request.onOutput,
          inputs: [args, ...data],
          disk: request.folders.dir,
        });
        const complaint = /^bwrap: .*$/m.exec(stderr)?.[0];
        if (complaint !== undefined && outcome.stopped === undefined && outcome.outputChars === 0) {
          throw new Error(`The sandbox could not be set up (${complaint}).`);
        }
        return outcome;
      } finally {
        protection.release();
        await proxy?.close();
      }
    },
  };
}

/**
 * Returns the arguments that define one command's view, in the order of its mounts.
 *
 * @param mounts the command's folders and additional mounts
 */
function getCommandArgs(
  { limits, filter, system }: BubblewrapOptions & { readonly system: readonly string[] },
  request: SandboxRequest,
  mounts: readonly string[],
  variables: Readonly<Record<string, string>>,
): string[] {
  return [
    ...ISOLATION,
    ...system,
    ...["--size", String(limits.scratchBytes), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...["--size", String(limits.scratchBytes), "--tmpfs", "/tmp"],
    ...["--ro-bind-data", PASSWD_FILE, "/etc/passwd", "--ro-bind-data", GROUP_FILE, "/etc/group"],
    ...mounts,
    ...getCoverArgs(request.covers),
    ...["--remount-ro", "/"],
    ...(filter === undefined ? [] : ["--seccomp", FILTER]),
    ...Object.entries({ ...request.env, ...variables }).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", request.cwd],
  ];
}

/** A mount of one path. */
interface Mount {
  readonly path: string;
  readonly args: readonly string[];
}

/** @param first descriptor of the first folder in the launcher. The others follow it. */
function getInnerMounts(inner: readonly InnerFolder[], first: number): readonly Mount[] {
  return inner.map(({ path }, index) => ({ path, args: ["--ro-bind-fd", String(first + index), path] }));
}

/** @param within mounts of the readable folders inside the workspace */
function getFolderArgs(
  folders: SandboxFolders,
  readable: readonly string[],
  within: readonly Mount[],
): readonly string[] {
  const args: string[] = [];
  // Folders around the workspace are mounted before it. Folders inside it and closed paths are mounted after it, outer
  // ones before inner ones. Each folder then keeps its own rights, and a readable folder inside a closed one stays
  // visible.
  const around = readable.filter((dir) => !isInside(dir, folders.dir));
  for (const dir of around) args.push("--ro-bind-try", dir, dir);
  args.push("--bind", folders.dir, folders.dir);
  const mounts = [...within];
  const visible = [folders.dir, ...readable, ...SYSTEM_FOLDERS];
  for (const path of folders.forbidden) {
    // A closed folder that contains the workspace is not mounted at all.
    if (isInside(folders.dir, path) || !visible.some((dir) => isInside(path, dir))) continue;
    const info = statIfExists(path);
    if (info === undefined) continue;
    mounts.push({ path, args: info.isDirectory() ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path] });
  }
  // Outer paths are shorter. If two paths are equal, the closed one is mounted last.
  for (const mount of mounts.toSorted((a, b) => a.path.length - b.path.length)) args.push(...mount.args);
  return args;
}
