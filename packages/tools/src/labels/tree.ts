import { type BigIntStats, type Dirent, lstatSync, mkdtempSync, opendirSync, rmdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

/** The inodes of all folders below a folder, by path. */
export type FolderInodes = ReadonlyMap<string, bigint>;

/** New and changed entries below a folder. */
export interface Changes {
  /** Files, links and other entries. */
  readonly entries: readonly string[];
  /** New folders: created here, or moved here with all of their content. */
  readonly trees: readonly string[];
}

/** Maximum number of entries to compare. If there are more, every top-level entry counts as changed. */
const MAX_ENTRIES = 200_000;
/** Number of entries to examine before yielding to the event loop. This takes a few milliseconds. */
const SLICE_ENTRIES = 1_000;

/**
 * Returns the current time of the file system's clock in nanoseconds. This clock may differ from the system clock, and
 * file times are compared with it.
 */
export function getFileSystemTime(folder: string): bigint {
  const probe = mkdtempSync(join(folder, ".signalbox-"));
  try {
    return lstatSync(probe, { bigint: true }).ctimeNs;
  } finally {
    rmdirSync(probe);
  }
}

/** Lists all folders, to distinguish a folder that was moved from one in which an entry was added. */
export async function listFolders(root: string, skip: ReadonlySet<string>): Promise<FolderInodes> {
  const folders = new Map<string, bigint>();
  await visit(root, skip, (path, isFolder) => {
    if (!isFolder) return false;
    const inode = getInode(path);
    if (inode !== undefined) folders.set(path, inode);
    return true;
  });
  return folders;
}

/**
 * Returns the entries below a folder that were created, changed, renamed or linked since the given time. Each of these
 * changes sets `ctime`, which programs cannot set to a chosen value.
 *
 * @param before the folders at that time. Adding an entry changes the `ctime` of its folder, so this list is needed to
 * recognize new folders. Without it, for example after a crash, each folder that may be new counts as new.
 */
export async function findChanges(
  root: string,
  since: bigint,
  before: FolderInodes | undefined,
  skip: ReadonlySet<string>,
): Promise<Changes> {
  const entries: string[] = [];
  const trees: string[] = [];
  const whole = await visit(root, skip, (path, isFolder) => {
    const info = statIfExists(path);
    if (info === undefined) return false;
    const changed = info.ctimeNs >= since;
    if (!isFolder) {
      if (changed) entries.push(path);
      return false;
    }
    const isNew = before === undefined ? changed : before.get(path) !== info.ino;
    if (isNew) trees.push(path);
    return !isNew;
  });
  return whole ? { entries, trees } : await listTopEntries(root, skip);
}

/** Returns the current path of an inode. */
export async function findInode(
  root: string,
  inode: bigint,
  skip: ReadonlySet<string>,
): Promise<string | undefined> {
  let place: string | undefined;
  await visit(root, skip, (path) => {
    if (place !== undefined) return false;
    if (getInode(path) === inode) place = path;
    return place === undefined;
  });
  return place;
}

async function listTopEntries(root: string, skip: ReadonlySet<string>): Promise<Changes> {
  const entries: string[] = [];
  const trees: string[] = [];
  for (const entry of await readdir(root, { withFileTypes: true })) {
    const path = join(root, entry.name);
    if (!skip.has(path)) (entry.isDirectory() ? trees : entries).push(path);
  }
  return { entries, trees };
}

/**
 * Visits everything below a folder without following links, and descends into folders for which `look` returns true.
 * Returns false if it stopped at `MAX_ENTRIES`. The calls are synchronous and run in slices, because a round trip to
 * the thread pool takes ten times as long as a call.
 */
async function visit(
  root: string,
  skip: ReadonlySet<string>,
  look: (path: string, isFolder: boolean) => boolean,
): Promise<boolean> {
  const queue = [root];
  let visited = 0;
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    for (const entry of readEntries(folder)) {
      visited += 1;
      if (visited > MAX_ENTRIES) return false;
      if (visited % SLICE_ENTRIES === 0) await setImmediate();
      const path = `${folder}/${entry.name}`;
      if (skip.has(path)) continue;
      const isFolder = entry.isDirectory();
      if (look(path, isFolder) && isFolder) queue.push(path);
    }
  }
  return true;
}

/**
 * Yields entries one at a time, so that a visit can stop in the middle of a large folder. Yields nothing if the folder
 * cannot be opened.
 */
function* readEntries(folder: string): Generator<Dirent> {
  let open: ReturnType<typeof opendirSync>;
  try {
    open = opendirSync(folder, { bufferSize: 256 });
  } catch {
    return;
  }
  try {
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) yield entry;
  } finally {
    open.closeSync();
  }
}

/** Returns the inode of the entry itself, if it exists. */
export function getInode(path: string): bigint | undefined {
  return statIfExists(path)?.ino;
}

function statIfExists(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
