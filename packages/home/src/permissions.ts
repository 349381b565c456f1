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

/**
 * Looks at who can read the home and what lies in it, and closes to others what is this user's own.
 * @throws GatewayError where others can write what it must trust, and this user cannot change that
 */
export function closeHome(home: Home): OpenFile[] {
  const found: OpenFile[] = [];
  for (const path of home.closed) {
    const stats = statSync(path, { throwIfNoEntry: false });
    // On Windows there are no such modes.
    if (stats === undefined || process.getuid === undefined || (stats.mode & OTHERS) === 0) continue;
    const mode = (stats.mode & 0o7777).toString(8);
    if (isOpenToOthers(stats)) chmodSync(path, stats.mode & 0o700);
    else if (isWritableByOthers(stats)) {
      throw new GatewayError(
        "cannot_write",
        `${path} belongs to another user and others can write it (mode ${mode}). Take it over with chown, or close it with \`chmod go-w ${path}\`.`,
      );
    }
    found.push({ path, mode, mended: isOpenToOthers(stats) });
  }
  return found;
}

function isWritableByOthers(stats: Stats): boolean {
  return (stats.mode & OTHERS_WRITE) !== 0 && !(stats.isDirectory() && (stats.mode & STICKY) !== 0);
}
