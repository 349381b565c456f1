import { readFile, statfs } from "node:fs/promises";
import type { CommandGroup } from "./cgroups.ts";
import type { SandboxLimits } from "./types.ts";

const WATCH_MS = 100;
/** Files and folders that one command may add. */
const MAX_NEW_FILES = 200_000;
/** What is left on the disk for everybody else. */
const KEEP_FREE_BYTES = 268_435_456;

/**
 * Looks at the tree of processes and at the disk ten times a second. The kernel's own limits (set by the shell that
 * starts the command) count for one process, or not for root at all; these count everything together. What
 * comes and goes between two looks is not seen.
 */
export function startWatch(
  pid: () => number | undefined,
  {
    limits,
    disk,
    group,
  }: { readonly limits: SandboxLimits; readonly disk: string; readonly group: CommandGroup | undefined },
  kill: (why: "processes" | "memory" | "disk") => void,
): { stop(): void } {
  if (process.platform !== "linux") return { stop: () => {} };
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const before = freeOn(disk);
  const look = async (): Promise<void> => {
    const root = pid();
    const use = root === undefined ? undefined : await useOfTree(root, limits);
    const isFull = isDiskFull(await before, await freeOn(disk), limits);
    if (stopped) return;
    if ((use !== undefined && use.tasks > limits.processes) || group?.wasOutOfProcesses()) kill("processes");
    // Older kernels end one process at a time: what is left of the command goes with it.
    else if ((use !== undefined && use.bytes > limits.memoryBytes) || group?.wasOutOfMemory()) kill("memory");
    else if (isFull) kill("disk");
    timer = setTimeout(look, WATCH_MS);
  };
  timer = setTimeout(look, WATCH_MS / 2);
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

interface Free {
  readonly bytes: number;
  readonly files: number;
}

async function freeOn(folder: string): Promise<Free | undefined> {
  const info = await statfs(folder).catch(() => undefined);
  return info && { bytes: info.bavail * info.bsize, files: info.ffree };
}

/** What others write meanwhile counts too: there is no cheap way to tell. */
function isDiskFull(before: Free | undefined, now: Free | undefined, { diskBytes }: SandboxLimits): boolean {
  if (before === undefined || now === undefined) return false;
  const used = before.bytes - now.bytes;
  return (
    used > diskBytes || (used > 0 && now.bytes < KEEP_FREE_BYTES) || before.files - now.files > MAX_NEW_FILES
  );
}

/**
 * Threads and memory of a process and its descendants: private and shared memory, not the files that they map. Stops
 * counting above the limit of tasks. Shared memory counts in each process that has it, so that a sum above the limit is
 * counted again by halves. proc(5).
 */
async function useOfTree(root: number, limits: SandboxLimits): Promise<{ tasks: number; bytes: number }> {
  const pids = await treeOf(root, limits.processes);
  let tasks = 0;
  let bytes = 0;
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "");
    tasks += field(status, "Threads") || 1;
    bytes += (field(status, "RssAnon") + field(status, "RssShmem")) * 1024;
  }
  return { tasks, bytes: bytes > limits.memoryBytes ? await proportionalUse(pids) : bytes };
}

async function proportionalUse(pids: readonly number[]): Promise<number> {
  let bytes = 0;
  for (const pid of pids) {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "latin1").catch(() => "");
    bytes += (field(rollup, "Pss_Anon") + field(rollup, "Pss_Shmem")) * 1024;
  }
  return bytes;
}

async function treeOf(root: number, max: number): Promise<readonly number[]> {
  const pids: number[] = [];
  const queue = [root];
  for (let pid = queue.shift(); pid !== undefined && pids.length <= max; pid = queue.shift()) {
    pids.push(pid);
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, "latin1").catch(() => "");
    queue.push(...children.split(" ").filter(Boolean).map(Number));
  }
  return pids;
}

/** A number of a list of `Name: value` lines. */
function field(text: string, name: string): number {
  const at = text.indexOf(`\n${name}:`);
  return at < 0 ? 0 : Number.parseInt(text.slice(at + name.length + 2), 10) || 0;
}
