import { type Dirent, lstatSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** Maximum size of an imported file, in bytes. */
const MAX_FILE_BYTES = 100_000_000;
const MAX_FILES = 200_000;
const MAX_DEPTH = 32;

/** A file of a folder, or an entry that is left out. */
export interface TreeEntry {
  /** Path in the folder, with `/`. */
  readonly path: string;
  readonly file: string;
  /** Reason for leaving the entry out. */
  readonly leftOut?: string;
}

/**
 * Lists the files of a folder, sorted by path. Links, special files, large files and the folders in `ignored` are
 * returned as left out.
 *
 * @param ignored returns the reason for leaving out an entry, by its path in the folder
 */
export function listTree(
  dir: string,
  ignored: (path: string, isFolder: boolean) => string | undefined = () => undefined,
): readonly TreeEntry[] {
  const entries: TreeEntry[] = [];
  const visit = (prefix: string, depth: number): void => {
    if (depth > MAX_DEPTH) {
      entries.push({ path: prefix, file: join(dir, prefix), leftOut: `More than ${MAX_DEPTH} levels deep.` });
      return;
    }
    for (const entry of readEntries(join(dir, prefix))) {
      if (entries.length >= MAX_FILES) return;
      const path = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
      const file = join(dir, path);
      const why =
        ignored(path, entry.isDirectory()) ?? (entry.isDirectory() ? undefined : getFault(entry, file));
      if (why !== undefined) entries.push({ path, file, leftOut: why });
      else if (entry.isDirectory()) visit(path, depth + 1);
      else entries.push({ path, file });
    }
  };
  visit("", 0);
  if (entries.length >= MAX_FILES)
    entries.push({ path: "", file: dir, leftOut: `More than ${MAX_FILES} files; the rest was not read.` });
  return entries;
}

function readEntries(dir: string): Dirent[] {
  return readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the reason for leaving out a file of a home, or undefined for a regular file inside of it. */
export function getFileFault(file: string, home: string): string | undefined {
  return getFault(lstatSync(file), file) ?? (isReallyInside(file, home) ? undefined : LINK);
}

/** Returns the reason for leaving out a folder of a home, or undefined for a folder inside of it. */
export function getFolderFault(dir: string, home: string): string | undefined {
  if (lstatSync(dir).isSymbolicLink() || !isReallyInside(dir, home)) return LINK;
  return lstatSync(dir).isDirectory() ? undefined : "Not a folder.";
}

const LINK = "A link, which may lead out of the folder.";

function getFault(
  entry: Pick<Dirent, "isDirectory" | "isFile" | "isSymbolicLink">,
  file: string,
): string | undefined {
  if (entry.isSymbolicLink()) return LINK;
  if (!entry.isFile()) return "Not a regular file.";
  const { size } = lstatSync(file);
  return size > MAX_FILE_BYTES ? `Larger than ${MAX_FILE_BYTES / 1_000_000} MB.` : undefined;
}

/** Returns true if a path is in a folder after links are resolved. False if either does not exist. */
export function isReallyInside(path: string, folder: string): boolean {
  try {
    return realpathSync(path).startsWith(`${realpathSync(folder)}/`);
  } catch {
    return false;
  }
}
