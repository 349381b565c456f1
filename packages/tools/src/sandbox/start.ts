import { randomBytes } from "node:crypto";
import {
  access,
  constants,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  writeFile,
} from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import { createBubblewrap } from "./bubblewrap.ts";
import { type CgroupPlaces, type CommandGroups, openCommandGroups } from "./cgroups.ts";
import { inheritedDescriptors } from "./descriptors.ts";
import { type OpenDomainProxy, openDomainProxy } from "./network/proxy.ts";
import { followProgram, startProgram } from "./process.ts";
import { seccompFilter } from "./seccomp.ts";
import { commandVariable, limitedShell } from "./shell.ts";
import { type Sandbox, type SandboxLimits, type SandboxSetting, timeOf } from "./types.ts";

export interface StartSandboxOptions {
  /** Default `default`. `none` runs commands without a sandbox: the owner's explicit choice, and loudly noted. */
  readonly setting?: SandboxSetting;
  readonly limits?: Partial<SandboxLimits>;
  /** Further folders that commands may read, absolute, for instance of a language runtime. */
  readonly readOnly?: readonly string[];
  /** Where the self-test plants what must stay unreadable; default the home and the temporary folder. */
  readonly canaryDirs?: readonly string[];
  /** The search path for `bwrap`; default the gateway's `PATH`. */
  readonly searchPath?: string;
  /** How commands reach the hosts that they may reach; default {@link openDomainProxy}. */
  readonly openProxy?: OpenDomainProxy;
  /** Where limits for all processes of a command are looked for; default the system's. */
  readonly cgroups?: CgroupPlaces;
  /** Default `process.platform`. */
  readonly platform?: NodeJS.Platform;
}

const CANARY_PREFIX = ".signalbox-canary-";
const STALE_MS = 600_000;

const DEFAULT_LIMITS: SandboxLimits = {
  timeoutMs: 60_000,
  backgroundMs: 3_600_000,
  processes: 256,
  memoryBytes: 1_073_741_824,
  diskBytes: 1_073_741_824,
  scratchBytes: 268_435_456,
  outputChars: 15_000,
};

/** All that a command finds in its environment. The gateway's own, with its secrets, is not passed on. */
const ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/tmp",
  TMPDIR: "/tmp",
  USER: "agent",
  LANG: "C.UTF-8",
  TERM: "dumb",
};

/**
 * Chooses where commands run and proves that it holds. When the rung asked for cannot be had, the sandbox that comes
 * back is `disabled` and says why; nothing ever runs on a lower rung than asked for. Never rejects.
 */
export async function startSandbox(options: StartSandboxOptions = {}): Promise<Sandbox> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const setting = options.setting ?? "default";
  try {
    switch (setting) {
      case "off":
        return disabled(limits, "exec is turned off in the configuration.");
      case "none":
        return await unsandboxed(limits, options.cgroups);
      case "default":
        return await bubblewrapped(options, limits);
    }
  } catch (error) {
    return disabled(limits, reasonOf(error));
  }
}

/** What `doctor` prints about a sandbox. */
export interface SandboxReport {
  readonly rung: Sandbox["rung"];
  readonly ok: boolean;
  /** One sentence. */
  readonly summary: string;
  readonly notes: readonly string[];
}

/** Says in plain words where commands run. */
export function describeSandbox(sandbox: Sandbox): SandboxReport {
  const { rung, limits, notes } = sandbox;
  switch (rung) {
    case "bubblewrap": {
      const memory = `${Math.round(limits.memoryBytes / 1_048_576)} MB`;
      const summary = `Commands run under bubblewrap: workspace only, no network, ${limits.timeoutMs / 1000} s, ${limits.processes} processes, ${memory}. The self-test passed.`;
      return { rung, ok: true, summary, notes };
    }
    case "none":
      return {
        rung,
        ok: false,
        summary:
          "Commands run WITHOUT a sandbox, with all rights of the gateway's user, as the owner set it.",
        notes,
      };
    case "disabled":
      return { rung, ok: false, summary: `exec is disabled: ${sandbox.reason ?? "no reason given"}`, notes };
  }
}

function disabled(limits: SandboxLimits, reason: string): Sandbox {
  return {
    rung: "disabled",
    reason,
    network: false,
    limits,
    env: {},
    shell: "",
    notes: [],
    run: () => Promise.reject(new Error(reason)),
  };
}

/** Which limits are the kernel's on this machine, and which are looked after. */
function limitsNote(groups: CommandGroups | undefined): string {
  const watched = "is looked after ten times a second";
  return groups === undefined
    ? `The kernel limits time, output, the size of a file and the processes of a user; memory (private and shared) and what is added to the disk ${watched}, since no cgroup can be made here (under systemd: Delegate=memory pids).`
    : `The kernel limits time, output, the size of a file, and memory and processes of a whole command (cgroup ${groups.version}); what is added to the disk ${watched}.`;
}

async function unsandboxed(limits: SandboxLimits, cgroups: CgroupPlaces | undefined): Promise<Sandbox> {
  const groups = openCommandGroups(limits, cgroups);
  const shell = await findShell();
  const env = {
    ...ENVIRONMENT,
    HOME: homedir(),
    TMPDIR: tmpdir(),
    PATH: process.env["PATH"] ?? ENVIRONMENT.PATH,
  };
  return {
    rung: "none",
    network: true,
    limits,
    env,
    shell,
    notes: [
      "A program that leaves its process group can outlive its command on this rung.",
      limitsNote(groups),
    ],
    async run(request) {
      request.signal.throwIfAborted();
      const started = startProgram({
        ...limitedShell(shell, limits, false),
        groups,
        env: { ...env, ...commandVariable(request.script) },
        cwd: request.cwd,
        hasInput: request.input !== undefined,
        descriptors: 0,
      });
      const { stderr, ...outcome } = await followProgram(started, {
        disk: request.folders.dir,
        limits,
        timeoutMs: timeOf(request, limits),
        input: request.input,
        outputChars: request.outputChars ?? limits.outputChars,
        signal: request.signal,
        onOutput: request.onOutput,
      });
      return outcome;
    },
  };
}

async function bubblewrapped(options: StartSandboxOptions, limits: SandboxLimits): Promise<Sandbox> {
  const platform = options.platform ?? process.platform;
  if (platform !== "linux") {
    return disabled(
      limits,
      `the sandbox needs Linux; on ${platform} exec works only with the setting \`none\`.`,
    );
  }
  const program = await findProgram("bwrap", options.searchPath ?? process.env["PATH"] ?? "");
  if (program === undefined) {
    return disabled(limits, "bubblewrap is not installed (Debian and Ubuntu: apt-get install bubblewrap).");
  }
  const groups = openCommandGroups(limits, options.cgroups);
  const notes = [limitsNote(groups)];
  if (process.getuid?.() === 0 && groups === undefined) {
    notes.push(
      "The gateway runs as root: inside, commands have an unprivileged id, but the kernel's own process limit does not bind root, so the limit on processes rests on the watchdog. Prefer an ordinary user.",
    );
  }
  const filter = seccompFilter(process.arch);
  if (filter === undefined) {
    notes.push(
      `Sockets, set-user-id files and hidden memory are not refused here: no filter for ${process.arch}.`,
    );
  }
  const descriptors = inheritedDescriptors();
  const sandbox = createBubblewrap({
    program,
    filter,
    shell: await findShell(),
    limits,
    env: ENVIRONMENT,
    readOnly: options.readOnly ?? [],
    notes,
    groups,
    descriptors,
    openProxy: options.openProxy ?? ((domains) => openDomainProxy({ domains })),
  });
  const problem = await selfTest(sandbox, options.canaryDirs ?? [homedir(), tmpdir()], descriptors);
  return problem === undefined ? sandbox : disabled(limits, problem);
}

/**
 * Runs one command that tries to read and to write what it must not. Gives what went wrong, or `undefined`. The folders
 * must be ones that the gateway's user can write to; others are left out, but one is needed.
 *
 * @param descriptors those of this process that the command must not have
 */
export async function selfTest(
  sandbox: Sandbox,
  canaryDirs: readonly string[],
  descriptors: readonly string[] = [],
): Promise<string | undefined> {
  const secret = randomBytes(16).toString("hex");
  const planted: string[] = [];
  const made: string[] = [];
  try {
    for (const dir of canaryDirs) {
      await removeStale(dir);
      const folder = await mkdtemp(join(dir, CANARY_PREFIX)).catch(() => undefined);
      if (folder === undefined) continue;
      made.push(folder);
      await writeFile(join(folder, "canary"), secret, { mode: 0o644 });
      planted.push(await realpath(folder));
    }
    const [first] = planted;
    if (first === undefined) return "the self-test found no folder to plant its canary in.";
    const dir = join(first, "workspace");
    await mkdir(dir);
    const tries = planted.flatMap((folder) => [
      `cat '${folder}/canary'`,
      `cat '/proc/${process.pid}/root${folder}/canary'`,
      `echo spoiled > '${folder}/canary'`,
      `echo spoiled > '${folder}/planted'`,
    ]);
    const script = [
      ...tries,
      'touch special; chmod u+s special 2>/dev/null && echo "special=left"',
      ...descriptors.map((each) => `[ -e /proc/self/fd/${each} ] && echo "descriptor=left"`),
      'echo "uid=$(id -u)"',
      'echo "links=$(grep -c : /proc/net/dev)"',
      // The first process of a namespace of its own is the launcher.
      'echo "first=$(cat /proc/1/comm)"',
      "echo fine > proof",
    ].join("\n");
    const outcome = await sandbox.run({
      script,
      folders: { dir, readOnlyDirs: [], forbidden: [] },
      cwd: dir,
      protect: { files: [], folders: [] },
      covers: [],
      signal: AbortSignal.timeout(10_000),
    });
    if (outcome.output.includes(secret)) return "the self-test could read a file outside the workspace.";
    for (const folder of planted) {
      const after = await readFile(join(folder, "canary"), "utf8").catch(() => "");
      const extra = await readFile(join(folder, "planted"), "utf8").catch(() => undefined);
      if (after !== secret || extra !== undefined) return "the self-test could write outside the workspace.";
    }
    if (!/^uid=[1-9]\d*$/m.test(outcome.output))
      return `the self-test did not run as an ordinary user. ${hint(outcome.output)}`;
    if (seccompFilter(process.arch) !== undefined && outcome.output.includes("special=left"))
      return "the self-test could leave a file with the set-user-id bit.";
    if (outcome.output.includes("descriptor=left"))
      return "the self-test had a file open that whoever started the gateway left open.";
    if (!outcome.output.includes("links=1\n")) return "the self-test found a network.";
    if (!outcome.output.includes("first=bwrap\n")) return "the self-test saw processes outside.";
    const proof = await readFile(join(dir, "proof"), "utf8").catch(() => "");
    return proof === "fine\n" ? undefined : "the self-test could not write in its workspace.";
  } catch (error) {
    return `the sandbox does not start here: ${reasonOf(error)} Unprivileged user namespaces may be turned off.`;
  } finally {
    for (const folder of made) await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

/** What self-tests that were killed half-way have left. */
async function removeStale(dir: string): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) {
    const path = join(dir, name);
    if (!name.startsWith(CANARY_PREFIX)) continue;
    const made = (await lstat(path).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (Date.now() - made > STALE_MS) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

function hint(output: string): string {
  return output.split("\n", 1)[0]?.slice(0, 200) ?? "";
}

async function findShell(): Promise<string> {
  for (const path of ["/bin/bash", "/usr/bin/bash", "/bin/sh"]) {
    if (await isProgram(path)) return await realpath(path);
  }
  throw new Error("there is no shell (/bin/bash or /bin/sh).");
}

async function findProgram(name: string, searchPath: string): Promise<string | undefined> {
  for (const folder of searchPath.split(delimiter)) {
    if (isAbsolute(folder) && (await isProgram(join(folder, name)))) return join(folder, name);
  }
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
