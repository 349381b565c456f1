import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readSync,
  realpathSync,
} from "node:fs";
import { isAbsolute, relative, sep } from "node:path";

/** The parts of a file system that loading needs. Missing things give undefined; anything else may throw. */
export interface SkillFs {
  /** What stands in a folder, in any order; at most `limit` entries. */
  list(dir: string, limit: number): readonly FolderEntry[] | undefined;
  stat(path: string): FileStat | undefined;
  /** The path with all links followed. */
  realpath(path: string): string | undefined;
  /**
   * The content, if it is a regular file and no link, has at most `maxBytes`, and is really in `within`, whose own
   * links are followed already.
   */
  read(path: string, maxBytes: number, within: string): Uint8Array | undefined;
}

/** What stands in a folder, links not followed. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: FileKind;
}

export type FileKind = "file" | "folder" | "link" | "other";

/** A file or folder, links not followed. */
export interface FileStat {
  readonly kind: FileKind;
  /** Bytes. */
  readonly size: number;
  /** Differs whenever the content may have changed. */
  readonly stamp: string;
}

/**
 * The disk, read synchronously: each call takes microseconds, far less than a turn through the thread pool. Whoever
 * makes many of them pauses in between.
 */
export const diskFs: SkillFs = {
  list(dir, limit) {
    const folder = orMissing(() => opendirSync(dir, { bufferSize: 256 }));
    if (folder === undefined) return undefined;
    try {
      const entries: FolderEntry[] = [];
      while (entries.length < limit) {
        const entry = folder.readSync();
        if (entry === null) break;
        entries.push({ name: entry.name, kind: kindOf(entry) });
      }
      return entries;
    } finally {
      folder.closeSync();
    }
  },

  stat(path) {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    // The time of change cannot be set back, and is there to a fraction of a microsecond.
    const stamp = `${stat.mtimeMs} ${stat.ctimeMs} ${stat.size} ${stat.ino}`;
    return { kind: kindOf(stat), size: stat.size, stamp };
  },

  realpath: (path) => orMissing(() => realpathSync(path)),

  read(path, maxBytes, within) {
    // Neither a link put in place at the last moment nor a pipe that nobody writes to may be opened.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    const file = orMissing(() => openSync(path, flags));
    if (file === undefined) return undefined;
    try {
      const opened = fstatSync(file);
      if (!opened.isFile() || opened.size > maxBytes) return undefined;
      // A folder on the way may have become a link since it was looked at: what counts is what was opened.
      const real = orMissing(() => realpathSync(path));
      if (real === undefined || !isInside(real, within)) return undefined;
      const atPath = lstatSync(real, { throwIfNoEntry: false });
      if (atPath?.ino !== opened.ino || atPath.dev !== opened.dev) return undefined;
      const bytes = Buffer.alloc(opened.size);
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
  const route = relative(folder, path);
  return route === "" || (route !== ".." && !route.startsWith(`..${sep}`) && !isAbsolute(route));
}

/** Why something could not be done, in the system's own word where it has one. */
export function reason(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
