import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { SandboxLimits } from "./types.ts";

/** Kernel limits for all processes of a command in total. The kernel enforces them immediately. */
export interface CommandGroups {
  readonly version: "v1" | "v2";
  create(): CommandGroup;
}

/** The control groups of one command. */
export interface CommandGroup {
  /**
   * Wraps a program so that it joins the group before it starts. All of its child processes then also belong to the
   * group.
   */
  enter(program: Program): Program;
  /** Returns true if the kernel killed a process because the group was out of memory. */
  wasOutOfMemory(): boolean;
  /** Returns true if the kernel refused to create a process. */
  wasOutOfProcesses(): boolean;
  /** Removes the group. Call this after all of its processes have ended. */
  remove(): Promise<void>;
}

interface Program {
  readonly file: string;
  readonly args: readonly string[];
}

export interface CgroupOptions {
  /** Mount point of the cgroup file system. Default: `/sys/fs/cgroup`. */
  readonly root?: string;
  /** File that lists the groups of this process. Default: `/proc/self/cgroup`. */
  readonly ownGroupsFile?: string;
  readonly pid?: number;
}

/**
 * A hierarchy in which groups are created: its folder, the settings of a group, and the files with its event counters.
 */
interface Hierarchy {
  readonly folder: string;
  readonly settings: readonly (readonly [file: string, value: string])[];
  readonly memoryEvents?: string;
  readonly pidsEvents?: string;
}

const PREFIX = "signalbox-command-";
/**
 * In v2, a group cannot contain both processes and groups, so the gateway and the commands each get their own group.
 */
const COMMANDS = "signalbox-commands";
const GATEWAY = "signalbox-gateway";
/** Maximum number of attempts to remove a group. A group still counts processes for a moment after they have ended. */
const REMOVE_TRIES = 20;
const REMOVE_WAIT_MS = 25;

/** Opens cgroups by creating a group, trying v2 before v1. Returns undefined if this process cannot create groups. */
export function openCommandGroups(
  limits: SandboxLimits,
  { root = "/sys/fs/cgroup", ownGroupsFile = "/proc/self/cgroup", pid = process.pid }: CgroupOptions = {},
): CommandGroups | undefined {
  const paths = readOwnPaths(ownGroupsFile);
  const versions = [
    { version: "v2", hierarchies: () => openV2(root, paths.get(""), pid, limits) },
    { version: "v1", hierarchies: () => openV1(root, paths, limits) },
  ] as const;
  for (const { version, hierarchies } of versions) {
    try {
      const all = hierarchies();
      removeStaleGroups(all);
      const create = () => createGroup(all);
      // Creating a group shows whether the kernel accepts the settings.
      removeGroup(all, create().name);
      return { version, create };
    } catch {
      // This version is not mounted or not delegated to this process. Try the next one.
    }
  }
  return undefined;
}

/**
 * Returns this process's path in each hierarchy, by the names of the hierarchy's controllers. The name is empty for v2.
 * Source: cgroups(7).
 */
function readOwnPaths(ownGroupsFile: string): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const line of readFileSync(ownGroupsFile, "latin1").split("\n")) {
    const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    for (const controller of controllers.split(",")) if (path !== "") paths.set(controller, path);
  }
  return paths;
}

/**
 * Returns the single v2 hierarchy. It must be delegated to this process, for example with systemd's `Delegate=memory
 * pids`.
 */
function openV2(
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

/** Returns the v1 hierarchies, one for each controller. */
function openV1(
  root: string,
  paths: ReadonlyMap<string, string>,
  limits: SandboxLimits,
): readonly Hierarchy[] {
  const getFolder = (controller: string): string => {
    const path = paths.get(controller);
    if (path === undefined) throw new Error(`there is no hierarchy of ${controller}`);
    return join(root, controller, path);
  };
  const memory = [["memory.limit_in_bytes", String(limits.memoryBytes)]] as const;
  return [
    { folder: getFolder("memory"), settings: memory, memoryEvents: "memory.oom_control" },
    {
      folder: getFolder("pids"),
      settings: [["pids.max", String(limits.processes)]],
      pidsEvents: "pids.events",
    },
  ];
}

function createGroup(hierarchies: readonly Hierarchy[]): CommandGroup & { readonly name: string } {
  // The name is random, because a killed process with the same id may have left a group behind. In a container, the id
  // is always the same.
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
      hierarchies.some(({ folder, memoryEvents }) => hasEvent(folder, name, memoryEvents, "oom_kill")),
    wasOutOfProcesses: () =>
      hierarchies.some(({ folder, pidsEvents }) => hasEvent(folder, name, pidsEvents, "max")),
    async remove() {
      for (let tries = 0; tries < REMOVE_TRIES; tries++) {
        if (removeGroup(hierarchies, name)) return;
        await setTimeout(REMOVE_WAIT_MS);
      }
    },
  };
}

/** Removes the groups of killed gateways. */
function removeStaleGroups(hierarchies: readonly Hierarchy[]): void {
  for (const name of hierarchies.flatMap(({ folder }) => readdirSync(folder))) {
    const [, pid] = /^(\d+)-[0-9a-f]+$/.exec(name.startsWith(PREFIX) ? name.slice(PREFIX.length) : "") ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeGroup(hierarchies, name);
  }
}

/** Removes a group. Returns true if it no longer exists. */
function removeGroup(hierarchies: readonly Hierarchy[], name: string): boolean {
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

/** Returns true if an event counter in a group's file is above zero. Returns false if the group does not exist. */
function hasEvent(folder: string, name: string, file: string | undefined, event: string): boolean {
  if (file === undefined) return false;
  try {
    const events = readFileSync(join(folder, name, file), "latin1");
    return Number(new RegExp(`^${event} (\\d+)$`, "m").exec(events)?.[1] ?? 0) > 0;
  } catch {
    return false;
  }
}
