import { chmodSync, type Stats, statSync } from "node:fs";
import { GatewayError } from "./errors.ts";
import type { Home } from "./layout.ts";

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
/** In such a folder nobody removes or replaces the files of others. */
const STICKY = 0o1000;

/** A file of a home that others could read. */
export interface OpenFile {
  readonly path: string;
  /** As `ls` and `chmod` write it, before it was mended. */
  readonly mode: string;
  /** Whether it is closed to them now. */
  readonly mended: boolean;
}

/** Whether somebody else can read a file of this user's, who could close it. What others own is theirs to judge. */
export function isOpenToOthers({ uid, mode }: Stats): boolean {
  return uid === process.getuid?.() && (mode & OTHERS) !== 0;
}

/** What of the home and of what lies in it others could read; nothing is changed. */
export function openFiles(home: Home): OpenFile[] {
  // On Windows there are no such modes.
  if (process.getuid === undefined) return [];
  const inHome = home.closed.filter((path) => path === home.dir || path.startsWith(`${home.dir}/`));
  return inHome.flatMap((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || (stats.mode & OTHERS) === 0) return [];
    return [{ path, mode: (stats.mode & 0o7777).toString(8), mended: false }];
  });
}

/**
 * Closes to others what is this user's own of the home and of what lies in it.
 * @throws GatewayError where others can write what it must trust, and this user cannot change that
 */
export function closeHome(home: Home): OpenFile[] {
  return openFiles(home).map((open) => {
    const { path, mode } = open;
    const stats = statSync(path);
    if (isOpenToOthers(stats)) chmodSync(path, stats.mode & 0o700);
    else if (isWritableByOthers(stats))
      throw new GatewayError(
        "cannot_write",
        `${path} belongs to another user and can be written by others (mode ${mode}). Take ownership with chown, or close it with \`chmod go-w ${path}\`.`,
      );
    return { ...open, mended: isOpenToOthers(stats) };
  });
}

function isWritableByOthers(stats: Stats): boolean {
  return (stats.mode & OTHERS_WRITE) !== 0 && !(stats.isDirectory() && (stats.mode & STICKY) !== 0);
}
