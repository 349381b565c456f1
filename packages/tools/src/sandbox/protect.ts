import {
  closeSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmdirSync,
  type Stats,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { getErrorCode } from "../workspace/errors.ts";
import type { SandboxRequest } from "./types.ts";

/** Read-only mounts for one command. */
export interface Protection {
  /** Arguments for the launcher. */
  readonly args: readonly string[];
  release(): void;
}

/** Placeholders by path, with the number of commands that use them. */
const placeholders = new Map<string, { readonly inode: number; readonly folder: boolean; users: number }>();

/**
 * Covers a workspace's protected names with read-only mounts. A missing file or folder needs a mount point, so an empty
 * placeholder is created, which concurrent commands share. This is synchronous, so that no other code mistakes a new
 * placeholder for a real file before it is registered.
 */
export function protectNames(request: SandboxRequest): Protection {
  const args: string[] = [];
  const acquired: string[] = [];
  const release = (): void => {
    for (const path of acquired.splice(0)) releasePlaceholder(path);
  };
  try {
    for (const { name, folder } of listNames(request)) {
      const path = join(request.folders.dir, name);
      if (acquirePlaceholder(path, folder)) acquired.push(path);
      else if (lstatSync(path).isSymbolicLink()) {
        throw new Error(`${name} is a link, which cannot be protected; replace it with its target.`);
      }
      args.push("--ro-bind", path, path);
    }
    return { args, release };
  } catch (error) {
    release();
    throw error;
  }
}

function listNames({ protect: { files, folders } }: SandboxRequest): { name: string; folder: boolean }[] {
  return [
    ...files.map((name) => ({ name, folder: false })),
    ...folders.map((name) => ({ name, folder: true })),
  ];
}

/**
 * Registers a user of a placeholder and creates the placeholder if the path does not exist. Returns false if a real
 * entry exists.
 */
function acquirePlaceholder(path: string, folder: boolean): boolean {
  const placeholder = placeholders.get(path);
  if (placeholder !== undefined && statIfExists(path)?.ino === placeholder.inode) {
    placeholder.users += 1;
    return true;
  }
  const inode = createPlaceholder(path, folder);
  if (inode === undefined) return false;
  placeholders.set(path, { inode, folder, users: (placeholder?.users ?? 0) + 1 });
  return true;
}

function releasePlaceholder(path: string): void {
  const placeholder = placeholders.get(path);
  if (placeholder === undefined) return;
  placeholder.users -= 1;
  if (placeholder.users > 0) return;
  placeholders.delete(path);
  // A process outside the sandbox may have replaced the placeholder with a real file or folder.
  const now = statIfExists(path);
  if (now?.ino !== placeholder.inode || (!placeholder.folder && now.size > 0)) return;
  try {
    if (placeholder.folder) rmdirSync(path);
    else unlinkSync(path);
  } catch (error) {
    // A folder that is no longer empty is no longer a placeholder.
    if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(getErrorCode(error) ?? "")) throw error;
  }
}

/** Creates a placeholder and returns its inode. Returns undefined if the path already exists. */
function createPlaceholder(path: string, folder: boolean): number | undefined {
  try {
    if (folder) {
      mkdirSync(path);
      return lstatSync(path).ino;
    }
    const file = openSync(path, "wx", 0o644);
    try {
      return fstatSync(file).ino;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (getErrorCode(error) === "EEXIST") return undefined;
    throw error;
  }
}

function statIfExists(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
