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

/** The file system operations that loading needs. Missing files and folders give undefined; other errors may throw. */
export interface SkillFs {
  /** Lists a folder in any order, at most `limit` entries. */
  list(dir: string, limit: number): readonly FolderEntry[] | undefined;
  stat(path: string): FileStat | undefined;
  /** Resolves all links of a path. */
  realpath(path: string): string | undefined;
  /**
   * Reads a regular file of at most `maxBytes` that is not a link and that is inside `within` after links are resolved.
   * `within` contains no links. Returns undefined for any other file.
   */
  read(path: string, maxBytes: number, within: string): Uint8Array | undefined;
}

/** An entry of a folder. Links are not followed. */
interface FolderEntry {
  readonly name: string;
  readonly kind: FileKind;
}

type FileKind = "file" | "folder" | "link" | "other";

/** A file or folder. Links are not followed. */
export interface FileStat {
  readonly kind: FileKind;
  /** Size in bytes. */
  readonly size: number;
  /** Changes whenever the content may have changed. */
  readonly stamp: string;
}

/**
 * The disk. Calls are synchronous: each takes microseconds, far less than a round trip to the thread pool. Pause
 * between them if there are many.
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
        entries.push({ name: entry.name, kind: getKind(entry) });
      }
      return entries;
    } finally {
      folder.closeSync();
    }
  },

  stat(path) {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    // Programs cannot set `ctime`, and it has nanosecond resolution.
    const stamp = `${stat.mtimeMs} ${stat.ctimeMs} ${stat.size} ${stat.ino}`;
    return { kind: getKind(stat), size: stat.size, stamp };
  },

  realpath: (path) => orMissing(() => realpathSync(path)),

  read(path, maxBytes, within) {
    // Refuse a link that was just created, and do not block on a named pipe.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    const file = orMissing(() => openSync(path, flags));
    if (file === undefined) return undefined;
    try {
      const opened = fstatSync(file);
      if (!opened.isFile() || opened.size > maxBytes) return undefined;
      // A folder on the path may have become a link since it was checked. Verify the file that was opened.
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

function getKind(entry: Pick<Dirent, "isFile" | "isDirectory" | "isSymbolicLink">): FileKind {
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

/** Returns true if a path is a folder or inside it. Neither path may contain links. */
export function isInside(path: string, folder: string): boolean {
  const route = relative(folder, path);
  return route === "" || (route !== ".." && !route.startsWith(`..${sep}`) && !isAbsolute(route));
}

/** Returns the system's error code, or else the error as text. */
export function getReason(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
