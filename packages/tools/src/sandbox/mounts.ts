import { lstatSync, readlinkSync, type Stats } from "node:fs";
import type { Cover } from "./types.ts";

/** Folders with programs and libraries. Missing folders are skipped. */
export const SYSTEM_FOLDERS: readonly string[] = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
];

export function getSystemFolderArgs(): string[] {
  const args: string[] = [];
  for (const folder of SYSTEM_FOLDERS) {
    const info = statIfExists(folder);
    if (info?.isSymbolicLink()) args.push("--symlink", readlinkSync(folder), folder);
    else if (info?.isDirectory()) args.push("--ro-bind", folder, folder);
  }
  return args;
}

/**
 * Returns the mounts that hide paths: an unreadable device over a file, an empty folder over a folder. A command cannot
 * move a mount point.
 */
export function getCoverArgs(covers: readonly Cover[]): string[] {
  return covers.flatMap(({ path, kind, except }) => {
    if (kind === "file") return ["--ro-bind", "/dev/null", path];
    const visible = except === undefined ? [] : ["--bind", except, except];
    return ["--tmpfs", path, ...visible, "--remount-ro", path];
  });
}

export function statIfExists(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
