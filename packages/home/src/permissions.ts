import { chmodSync, type Stats, statSync } from "node:fs";
import { GatewayError } from "./errors.ts";
import type { Home } from "./layout.ts";

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
/** In a folder with this bit, users cannot remove or replace files of others. */
const STICKY = 0o1000;

/** A file of a home that other users could read. */
export interface ExposedFile {
  readonly path: string;
  /** Octal mode before it was fixed, as for `chmod`. */
  readonly mode: string;
  /** True if the mode was fixed. */
  readonly fixed: boolean;
}

/** Returns true if other users can access a file of this user. Files of other users are their responsibility. */
export function isAccessibleByOthers({ uid, mode }: Stats): boolean {
  return uid === process.getuid?.() && (mode & OTHERS) !== 0;
}

/** Returns the files of the home that other users can access. Changes nothing. */
export function findExposedFiles(home: Home): ExposedFile[] {
  // Windows does not have these modes.
  if (process.getuid === undefined) return [];
  const inHome = home.closed.filter((path) => path === home.dir || path.startsWith(`${home.dir}/`));
  return inHome.flatMap((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || (stats.mode & OTHERS) === 0) return [];
    return [{ path, mode: (stats.mode & 0o7777).toString(8), fixed: false }];
  });
}

/**
 * Removes other users' access to the files of the home that this user owns.
 *
 * @throws GatewayError if others can write a file that another user owns
 */
export function restrictHome(home: Home): ExposedFile[] {
  return findExposedFiles(home).map((open) => {
    const { path, mode } = open;
    const stats = statSync(path);
    if (isAccessibleByOthers(stats)) chmodSync(path, stats.mode & 0o700);
    else if (isWritableByOthers(stats))
      throw new GatewayError(
        "cannot_write",
        `${path} belongs to another user and can be written by others (mode ${mode}). Take ownership with chown, or close it with \`chmod go-w ${path}\`.`,
      );
    return { ...open, fixed: isAccessibleByOthers(stats) };
  });
}

function isWritableByOthers(stats: Stats): boolean {
  return (stats.mode & OTHERS_WRITE) !== 0 && !(stats.isDirectory() && (stats.mode & STICKY) !== 0);
}
