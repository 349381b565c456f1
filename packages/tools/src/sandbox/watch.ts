import { readFile, statfs } from "node:fs/promises";
import type { CommandGroup } from "./cgroups.ts";
import type { SandboxLimits } from "./types.ts";

const WATCH_MS = 100;
/** Maximum number of files and folders that a command may add. */
const MAX_NEW_FILES = 200_000;
/** Minimum free space that must remain on the disk, in bytes. */
const MIN_FREE_BYTES = 268_435_456;

/**
 * Checks the process tree and the disk ten times a second. The kernel limits that the shell sets apply to single
 * processes, and some of them do not apply to root. These checks cover the process tree as a whole. Short peaks between
 * two checks are missed.
 */
export function startWatch(
  pid: () => number | undefined,
  {
    limits,
    disk,
    group,
  }: {
    readonly limits: SandboxLimits;
    /** A folder on the disk whose growth is limited. Undefined: no limit. */
    readonly disk: string | undefined;
    readonly group: CommandGroup | undefined;
  },
  kill: (why: "processes" | "memory" | "disk") => void,
): { stop(): void } {
  if (process.platform !== "linux") return { stop: () => {} };
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const measureDisk = async (): Promise<Free | undefined> =>
    disk === undefined ? undefined : getFreeSpace(disk);
  const before = measureDisk();
  const check = async (): Promise<void> => {
    const root = pid();
    const use = root === undefined ? undefined : await measureTree(root, limits);
    const isFull = isDiskFull(await before, await measureDisk(), limits);
    if (stopped) return;
    if ((use !== undefined && use.tasks > limits.processes) || group?.wasOutOfProcesses()) kill("processes");
    // Older kernels kill only one process, so the gateway kills the rest of the command here.
    else if ((use !== undefined && use.bytes > limits.memoryBytes) || group?.wasOutOfMemory()) kill("memory");
    else if (isFull) kill("disk");
    timer = setTimeout(check, WATCH_MS);
  };
  timer = setTimeout(check, WATCH_MS / 2);
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

async function getFreeSpace(folder: string): Promise<Free | undefined> {
  const info = await statfs(folder).catch(() => undefined);
  return info && { bytes: info.bavail * info.bsize, files: info.ffree };
}

/**
 * Returns true if the command used too much disk space. Concurrent writes by other processes also count, because
 * distinguishing them would be expensive.
 */
function isDiskFull(before: Free | undefined, now: Free | undefined, { diskBytes }: SandboxLimits): boolean {
  if (before === undefined || now === undefined) return false;
  const used = before.bytes - now.bytes;
  return (
    used > diskBytes || (used > 0 && now.bytes < MIN_FREE_BYTES) || before.files - now.files > MAX_NEW_FILES
  );
}

/**
 * Returns the number of threads and the memory of a process tree: private and shared memory without mapped files. Stops
 * if the tree exceeds the process limit. Shared memory counts once for each process. If the sum exceeds the limit, it
 * is computed again with proportional shares. Source: proc(5).
 */
async function measureTree(root: number, limits: SandboxLimits): Promise<{ tasks: number; bytes: number }> {
  const pids = await listTree(root, limits.processes);
  let tasks = 0;
  let bytes = 0;
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "");
    tasks += readField(status, "Threads") || 1;
    bytes += (readField(status, "RssAnon") + readField(status, "RssShmem")) * 1024;
  }
  return { tasks, bytes: bytes > limits.memoryBytes ? await measureProportionalMemory(pids) : bytes };
}

async function measureProportionalMemory(pids: readonly number[]): Promise<number> {
  let bytes = 0;
  for (const pid of pids) {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "latin1").catch(() => "");
    bytes += (readField(rollup, "Pss_Anon") + readField(rollup, "Pss_Shmem")) * 1024;
  }
  return bytes;
}

async function listTree(root: number, max: number): Promise<readonly number[]> {
  const pids: number[] = [];
  const queue = [root];
  for (let pid = queue.shift(); pid !== undefined && pids.length <= max; pid = queue.shift()) {
    pids.push(pid);
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, "latin1").catch(() => "");
    queue.push(...children.split(" ").filter(Boolean).map(Number));
  }
  return pids;
}

/** Returns a number from a list of `Name: value` lines. */
function readField(text: string, name: string): number {
  const at = text.indexOf(`\n${name}:`);
  return at < 0 ? 0 : Number.parseInt(text.slice(at + name.length + 2), 10) || 0;
}
