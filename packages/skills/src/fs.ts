import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
} from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import type { FileKind, FileStat, SkillFs } from "./types.ts";

/**
 * The disk, read synchronously: a scan is a few system calls a skill, each far cheaper than a turn through the thread
 * pool.
 */
export const diskFs: SkillFs = {
  list: (dir) =>
    orMissing(() =>
      readdirSync(dir, { withFileTypes: true }).map((entry) => ({ name: entry.name, kind: kindOf(entry) })),
    ),

  stat(path): FileStat | undefined {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    return {
      kind: kindOf(found),
      size: found.size,
      // The time of change cannot be set back, and is there to a fraction of a microsecond.
      stamp: `${found.mtimeMs} ${found.ctimeMs} ${found.size} ${found.ino}`,
      executable: (found.mode & 0o100) !== 0,
    };
  },

  realpath: (path) => orMissing(() => realpathSync(path)),

  read(path, maxBytes, within) {
    // Neither a link put in place at the last moment nor a pipe that nobody writes to may be opened.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    const file = orMissing(() => openSync(path, flags));
    if (file === undefined) return undefined;
    try {
      const found = fstatSync(file);
      if (!found.isFile() || found.size > maxBytes) return undefined;
      // A folder on the way may have become a link since it was looked at: what counts is what was opened.
      const real = orMissing(() => realpathSync(path));
      if (real === undefined || !isInside(real, within)) return undefined;
      const there = lstatSync(real, { throwIfNoEntry: false });
      if (there?.ino !== found.ino || there.dev !== found.dev) return undefined;
      const bytes = Buffer.alloc(found.size);
      let length = 0;
      while (length < bytes.length) {
        const count = readSync(file, bytes, length, bytes.length - length, length);
        if (count === 0) break;
        length += count;
      }
      return bytes.subarray(0, length);
    } finally {
      closeSync(file);
    }
  },
};

function kindOf(entry: Pick<Dirent, "isFile" | "isDirectory" | "isSymbolicLink">): FileKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

const MISSING = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

function orMissing<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (error instanceof Error && "code" in error && MISSING.has(String(error.code))) return undefined;
    throw error;
  }
}

/** Whether a path is a folder or in it; both with links followed. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
