import { type BigIntStats, type Dirent, lstatSync, mkdtempSync, opendirSync, rmdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

/** The inode of each folder below one, by its path. */
export type Folders = ReadonlyMap<string, bigint>;

/** What has come into a folder, or changed there. */
export interface Changes {
  /** Files, links and other entries. */
  readonly entries: readonly string[];
  /** Folders that were not there before: made, or moved there with all that is in them. */
  readonly trees: readonly string[];
}

/** More entries than that are not looked at one by one: then every entry at the top counts as changed. */
const MAX_ENTRIES = 200_000;
/** Entries that are examined before other work gets its turn: a few milliseconds. */
const SLICE_ENTRIES = 1_000;

/** What the file system takes for now, in nanoseconds: times of files are compared with its clock, not with ours. */
export function fileSystemNow(folder: string): bigint {
  const probe = mkdtempSync(join(folder, ".signalbox-"));
  try {
    return lstatSync(probe, { bigint: true }).ctimeNs;
  } finally {
    rmdirSync(probe);
  }
}

/** Notes which folders there are, so that one that is moved can be told from one in which something was added. */
export async function foldersOf(root: string, skip: ReadonlySet<string>): Promise<Folders> {
  const folders = new Map<string, bigint>();
  await visit(root, skip, (path, isFolder) => {
    if (!isFolder) return false;
    const inode = inodeOf(path);
    if (inode !== undefined) folders.set(path, inode);
    return true;
  });
  return folders;
}

/**
 * What was created, changed, renamed or linked below a folder since a given time: each of these changes `ctime`, which
 * no one can set. A folder's own changes too when something is added to it; `before` says which folders are new.
 * Without it, as after a crash, each folder that may be new counts as new.
 */
export async function changesSince(
  root: string,
  since: bigint,
  before: Folders | undefined,
  skip: ReadonlySet<string>,
): Promise<Changes> {
  const entries: string[] = [];
  const trees: string[] = [];
  const whole = await visit(root, skip, (path, isFolder) => {
    const info = statOf(path);
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
  return whole ? { entries, trees } : await everything(root, skip);
}

/** Where an inode is now. */
export async function findInode(
  root: string,
  inode: bigint,
  skip: ReadonlySet<string>,
): Promise<string | undefined> {
  let place: string | undefined;
  await visit(root, skip, (path) => {
    if (place !== undefined) return false;
    if (inodeOf(path) === inode) place = path;
    return place === undefined;
  });
  return place;
}

async function everything(root: string, skip: ReadonlySet<string>): Promise<Changes> {
  const entries: string[] = [];
  const trees: string[] = [];
  for (const entry of await readdir(root, { withFileTypes: true })) {
    const path = join(root, entry.name);
    if (!skip.has(path)) (entry.isDirectory() ? trees : entries).push(path);
  }
  return { entries, trees };
}

/**
 * Looks at everything below a folder, links not followed, and goes into the folders for which `look` says so. Gives
 * whether it came to an end. Synchronous calls, in slices: a file costs microseconds, a
 * trip to another thread ten times as many.
 */
async function visit(
  root: string,
  skip: ReadonlySet<string>,
  look: (path: string, isFolder: boolean) => boolean,
): Promise<boolean> {
  const queue = [root];
  let seen = 0;
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    for (const entry of entriesOf(folder)) {
      seen += 1;
      if (seen > MAX_ENTRIES) return false;
      if (seen % SLICE_ENTRIES === 0) await setImmediate();
      const path = `${folder}/${entry.name}`;
      if (skip.has(path)) continue;
      const isFolder = entry.isDirectory();
      if (look(path, isFolder) && isFolder) queue.push(path);
    }
  }
  return true;
}

/** One after the other, so that a folder of any size can be left in the middle; none where it cannot be opened. */
function* entriesOf(folder: string): Generator<Dirent> {
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

/** Of the entry itself, where there is one. */
export function inodeOf(path: string): bigint | undefined {
  return statOf(path)?.ino;
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
