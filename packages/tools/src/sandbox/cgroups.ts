import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { SandboxLimits } from "./types.ts";

/** Limits of the kernel for all processes of a command together: what is over them is refused at once. */
export interface CommandGroups {
  readonly version: "v1" | "v2";
  create(): CommandGroup;
}

/** The processes of one command. */
export interface CommandGroup {
  /** A program that begins in the group, so that nothing it starts is ever outside. */
  enter(program: Program): Program;
  /** Whether the kernel has ended a process for want of memory. */
  wasOutOfMemory(): boolean;
  /** Whether the kernel has refused one more process. */
  wasOutOfProcesses(): boolean;
  /** Once all of its processes are over. */
  remove(): Promise<void>;
}

interface Program {
  readonly file: string;
  readonly args: readonly string[];
}

export interface CgroupPlaces {
  /** Where cgroups are mounted; default `/sys/fs/cgroup`. */
  readonly root?: string;
  /** Which groups this process is in; default `/proc/self/cgroup`. */
  readonly own?: string;
  readonly pid?: number;
}

/** A folder for each hierarchy that counts, the settings of a group in it, and where it says what was short. */
interface Hierarchy {
  readonly folder: string;
  readonly settings: readonly (readonly [file: string, value: string])[];
  readonly memoryEvents?: string;
  readonly pidsEvents?: string;
}

const PREFIX = "signalbox-command-";
/** In v2 no group has both processes and groups. */
const COMMANDS = "signalbox-commands";
const GATEWAY = "signalbox-gateway";
/** Processes that are over are still counted for a moment. */
const REMOVE_TRIES = 20;
const REMOVE_WAIT_MS = 25;

/** Groups where this process may make them, by trying; `undefined` where it may not. */
export function openCommandGroups(
  limits: SandboxLimits,
  { root = "/sys/fs/cgroup", own = "/proc/self/cgroup", pid = process.pid }: CgroupPlaces = {},
): CommandGroups | undefined {
  const paths = pathsOf(own);
  const ways = [
    { version: "v2", hierarchies: () => unified(root, paths.get(""), pid, limits) },
    { version: "v1", hierarchies: () => separate(root, paths, limits) },
  ] as const;
  for (const { version, hierarchies } of ways) {
    try {
      const all = hierarchies();
      removeLeft(all);
      const create = () => createGroup(all);
      // Whether the kernel takes the settings is known by making a group.
      removeNow(all, create().name);
      return { version, create };
    } catch {
      // Not mounted, not ours, or of another kind: the next way, or none.
    }
  }
  return undefined;
}

/** The path of this process in each hierarchy by the names of its controllers; that of v2 has none. cgroups(7). */
function pathsOf(own: string): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const line of readFileSync(own, "latin1").split("\n")) {
    const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    for (const controller of controllers.split(",")) if (path !== "") paths.set(controller, path);
  }
  return paths;
}

/** One hierarchy for everything; it has to be delegated to us, as `Delegate=memory pids` of systemd does. */
function unified(
  root: string,
  path: string | undefined,
  pid: number,
  limits: SandboxLimits,
): readonly Hierarchy[] {
  if (path === undefined) throw new Error("there is no unified hierarchy");
  const present = join(root, path);
  const base = present.endsWith(`/${GATEWAY}`) ? dirname(present) : present;
  const controllers = readFileSync(join(base, "cgroup.controllers"), "latin1").trim().split(" ");
  if (!["memory", "pids"].every((each) => controllers.includes(each)))
    throw new Error("controllers are missing");
  const [leaf, folder] = [join(base, GATEWAY), join(base, COMMANDS)];
  mkdirSync(leaf, { recursive: true });
  writeFileSync(join(leaf, "cgroup.procs"), String(pid));
  try {
    writeFileSync(join(base, "cgroup.subtree_control"), "+memory +pids");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "cgroup.subtree_control"), "+memory +pids");
  } catch (error) {
    writeFileSync(join(base, "cgroup.procs"), String(pid));
    throw error;
  }
  const settings = [
    ["memory.max", String(limits.memoryBytes)],
    ["memory.swap.max", "0"],
    ["memory.oom.group", "1"],
    ["pids.max", String(limits.processes)],
  ] as const;
  return [{ folder, settings, memoryEvents: "memory.events", pidsEvents: "pids.events" }];
}

/** A hierarchy for each controller, as older systems have them. */
function separate(
  root: string,
  paths: ReadonlyMap<string, string>,
  limits: SandboxLimits,
): readonly Hierarchy[] {
  const folderOf = (controller: string): string => {
    const path = paths.get(controller);
    if (path === undefined) throw new Error(`there is no hierarchy of ${controller}`);
    return join(root, controller, path);
  };
  const memory = [["memory.limit_in_bytes", String(limits.memoryBytes)]] as const;
  return [
    { folder: folderOf("memory"), settings: memory, memoryEvents: "memory.oom_control" },
    {
      folder: folderOf("pids"),
      settings: [["pids.max", String(limits.processes)]],
      pidsEvents: "pids.events",
    },
  ];
}

function createGroup(hierarchies: readonly Hierarchy[]): CommandGroup & { readonly name: string } {
  // A process that was killed may have had the same id, in a container it always has, and have left a group.
  const name = `${PREFIX}${process.pid}-${randomBytes(8).toString("hex")}`;
  const folders = hierarchies.map(({ folder }) => join(folder, name));
  for (const { folder, settings } of hierarchies) {
    mkdirSync(join(folder, name));
    for (const [file, value] of settings) writeFileSync(join(folder, name, file), value);
  }
  return {
    name,
    enter({ file, args }) {
      const enterAll = folders.map((_, index) => `echo 0 > "$${index + 1}/cgroup.procs"`);
      const script = `${enterAll.join(" && ")} && shift ${folders.length} && exec "$@"`;
      return { file: "/bin/sh", args: ["-c", script, "sh", ...folders, file, ...args] };
    },
    wasOutOfMemory: () =>
      hierarchies.some(({ folder, memoryEvents }) => counted(folder, name, memoryEvents, "oom_kill")),
    wasOutOfProcesses: () =>
      hierarchies.some(({ folder, pidsEvents }) => counted(folder, name, pidsEvents, "max")),
    async remove() {
      for (let tries = 0; tries < REMOVE_TRIES; tries++) {
        if (removeNow(hierarchies, name)) return;
        await setTimeout(REMOVE_WAIT_MS);
      }
    },
  };
}

/** What a gateway has left that was killed. */
function removeLeft(hierarchies: readonly Hierarchy[]): void {
  for (const name of hierarchies.flatMap(({ folder }) => readdirSync(folder))) {
    const [, pid] = /^(\d+)-[0-9a-f]+$/.exec(name.startsWith(PREFIX) ? name.slice(PREFIX.length) : "") ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeNow(hierarchies, name);
  }
}

/** Whether the group is gone. */
function removeNow(hierarchies: readonly Hierarchy[], name: string): boolean {
  const removed = hierarchies.map(({ folder }) => {
    try {
      rmdirSync(join(folder, name));
      return true;
    } catch (error) {
      return error instanceof Error && "code" in error && error.code === "ENOENT";
    }
  });
  return removed.every(Boolean);
}

/** Whether a file of a group tells of any event of a kind; not where the group is gone. */
function counted(folder: string, name: string, file: string | undefined, event: string): boolean {
  if (file === undefined) return false;
  try {
    const events = readFileSync(join(folder, name, file), "latin1");
    return Number(new RegExp(`^${event} (\\d+)$`, "m").exec(events)?.[1] ?? 0) > 0;
  } catch {
    return false;
  }
}
