import { lstat, mkdir, open, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { diskFs } from "./fs.ts";
import { type FolderFile, Pinner, SkillFolderError, walkFolder } from "./pin.ts";
import type { Skill } from "./types.ts";

/** Marks a folder as ours to empty. */
const MARKER = ".signalbox-skills";

export interface SyncResult {
  /** Ids of skills that were copied. */
  readonly copied: readonly string[];
  /** Ids of skills whose copy was already as it should be. */
  readonly unchanged: readonly string[];
  /** Names of what else was in the folder, and is no longer. */
  readonly removed: readonly string[];
  /** Skills that could not be copied; no copy of them is left. */
  readonly failed: readonly { readonly id: string; readonly message: string }[];
  /** Absolute path of each copy's SKILL.md, by id. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Makes a folder hold copies of these skills, each under its id, and nothing else. Only regular files are copied;
 * links are left out. What is in a copy is compared with the original, so that a copy somebody changed is made anew.
 *
 * @param target - a folder that does not exist, is empty, or was made by this function
 * @throws SkillFolderError `not-ours` where the target is anything else
 */
export async function syncSkills(skills: readonly Skill[], target: string): Promise<SyncResult> {
  await claim(target);
  const folder = await realpath(target);
  const wanted = new Map(skills.map((skill) => [skill.id, skill]));
  const removed: string[] = [];
  for (const name of await readdir(target)) {
    if (name === MARKER || wanted.has(name)) continue;
    await rm(join(target, name), { recursive: true, force: true });
    removed.push(name);
  }
  const copied: string[] = [];
  const unchanged: string[] = [];
  const failed: { id: string; message: string }[] = [];
  const files = new Map<string, string>();
  for (const [id, skill] of wanted) {
    const to = join(target, id);
    try {
      const original = walkFolder(diskFs, skill.dir).filter(({ stat }) => stat.kind === "file");
      if (!original.some(({ path }) => path === "SKILL.md")) {
        throw new SkillFolderError("unreadable", `${skill.file} is not a regular file.`);
      }
      if (isCopy(original, skill, to, folder)) unchanged.push(id);
      else {
        await rm(to, { recursive: true, force: true });
        await copy(original, skill, to);
        copied.push(id);
      }
      files.set(id, join(to, "SKILL.md"));
    } catch (error) {
      await rm(to, { recursive: true, force: true });
      failed.push({ id, message: error instanceof Error ? error.message : String(error) });
    }
  }
  return { copied, unchanged, removed: removed.sort(), failed, files };
}

async function claim(target: string): Promise<void> {
  const found = await lstat(target).catch(() => undefined);
  if (found === undefined) await mkdir(target, { recursive: true });
  else if (!found.isDirectory()) {
    throw new SkillFolderError("not-ours", `${target} is not a folder, so skills are not copied there.`);
  }
  const names = await readdir(target);
  if (names.includes(MARKER)) return;
  if (names.length > 0) {
    throw new SkillFolderError("not-ours", `${target} holds something else, so skills are not copied there.`);
  }
  await writeFile(
    join(target, MARKER),
    "The gateway makes this folder and removes what it does not know.\n",
    {
      flag: "wx",
    },
  );
}

/** Whether a copy holds what the original holds, links of the original aside. */
function isCopy(original: readonly FolderFile[], skill: Skill, to: string, target: string): boolean {
  try {
    if (diskFs.stat(to)?.kind !== "folder") return false;
    const copied = new Pinner(diskFs).pin(to, target).files;
    const wanted = new Pinner(diskFs).pin(skill.dir, skill.root).files;
    return (
      Object.keys(copied).length === original.length &&
      original.every(({ path }) => Object.hasOwn(copied, path) && copied[path] === wanted[path])
    );
  } catch {
    // Whoever can write to the copy can make it unreadable; it is made anew.
    return false;
  }
}

async function copy(original: readonly FolderFile[], skill: Skill, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const { path, stat } of original) {
    const bytes = diskFs.read(join(skill.dir, path), stat.size, skill.root);
    if (bytes === undefined) {
      throw new SkillFolderError("unreadable", `${join(skill.dir, path)} changed while it was copied.`);
    }
    const file = join(to, path);
    await mkdir(dirname(file), { recursive: true });
    const handle = await open(file, "wx", stat.executable ? 0o755 : 0o644);
    try {
      await handle.writeFile(bytes);
    } finally {
      await handle.close();
    }
  }
}
