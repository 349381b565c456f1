import { lstat, mkdir, open, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errno } from "../workspace/errors.ts";
import type { SandboxRequest } from "./types.ts";

/** What was made to mount upon, by its path, and how many commands are using it. */
const held = new Map<string, { readonly inode: number; readonly folder: boolean; holders: number }>();
/** One at a time: between making a placeholder and noting it, nobody may take it for the real thing. */
let queue: Promise<unknown> = Promise.resolve();

/**
 * Launcher arguments that cover the protected names of a workspace with read-only mounts. What does not exist needs
 * something to mount upon: an empty file or folder is made for the time of the command, shared by commands that run at
 * once, and taken away by `release`.
 */
export function protect(
  request: SandboxRequest,
): Promise<{ readonly args: readonly string[]; release(): Promise<void> }> {
  return inTurn(async () => {
    const args: string[] = [];
    const mine: string[] = [];
    const releaseAll = async (): Promise<void> => {
      for (const path of mine.splice(0)) await release(path);
    };
    try {
      for (const { name, folder } of namesOf(request)) {
        const path = join(request.folders.dir, name);
        if (await hold(path, folder)) mine.push(path);
        else if ((await lstat(path)).isSymbolicLink()) {
          throw new Error(`${name} is a link, which cannot be protected; replace it by what it leads to.`);
        }
        args.push("--ro-bind", path, path);
      }
      return { args, release: () => inTurn(releaseAll) };
    } catch (error) {
      await releaseAll();
      throw error;
    }
  });
}

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const result = queue.then(work);
  queue = result.catch(() => {});
  return result;
}

function namesOf({ protect: { files, folders } }: SandboxRequest): { name: string; folder: boolean }[] {
  return [
    ...files.map((name) => ({ name, folder: false })),
    ...folders.map((name) => ({ name, folder: true })),
  ];
}

/** Whether the path is a placeholder, made now or before. */
async function hold(path: string, folder: boolean): Promise<boolean> {
  const placeholder = held.get(path);
  if (placeholder !== undefined && (await lstat(path).catch(() => undefined))?.ino === placeholder.inode) {
    placeholder.holders += 1;
    return true;
  }
  const inode = await makePlaceholder(path, folder);
  if (inode === undefined) return false;
  held.set(path, { inode, folder, holders: (placeholder?.holders ?? 0) + 1 });
  return true;
}

async function release(path: string): Promise<void> {
  const entry = held.get(path);
  if (entry === undefined) return;
  entry.holders -= 1;
  if (entry.holders > 0) return;
  held.delete(path);
  // Someone outside the sandbox may have put a real file or folder in its place meanwhile.
  const now = await lstat(path).catch(() => undefined);
  if (now?.ino !== entry.inode) return;
  if (entry.folder) await rmdir(path).catch(() => {});
  else if (now.size === 0) await unlink(path).catch(() => {});
}

/** The inode of what was made, `undefined` when something was there. */
async function makePlaceholder(path: string, folder: boolean): Promise<number | undefined> {
  try {
    if (folder) {
      await mkdir(path);
      return (await lstat(path)).ino;
    }
    await using file = await open(path, "wx", 0o644);
    return (await file.stat()).ino;
  } catch (error) {
    if (errno(error) === "EEXIST") return undefined;
    throw error;
  }
}
