import { createHash } from "node:crypto";
import { relative, resolve } from "node:path";
import type { NamedFile } from "../types.ts";
import { inside } from "../workspace/paths.ts";
import type { Workspace } from "../workspace/workspace.ts";

const MAX_FILES = 50;

/**
 * The files of a workspace that a command names, with the hash of what they hold now. Those that it finds by a pattern,
 * or that a script of its own names, are not among them.
 */
export async function namedFiles(
  workspace: Workspace,
  cwd: string,
  words: readonly string[],
): Promise<readonly NamedFile[]> {
  const files: NamedFile[] = [];
  for (const path of new Set(words.map((word) => resolve(cwd, word)))) {
    if (!inside(path, workspace.dir) || path === workspace.dir) continue;
    if (files.length >= MAX_FILES) throw new Error(`the command names more than ${MAX_FILES} files`);
    const sha256 = await hashOfFile(workspace, path);
    if (sha256 !== undefined) files.push({ path: relative(workspace.dir, path), sha256 });
  }
  return files;
}

async function hashOfFile(workspace: Workspace, path: string): Promise<string | undefined> {
  const file = await workspace.openFile(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const hash = createHash("sha256");
    for await (const chunk of file.handle.createReadStream({ autoClose: false })) hash.update(chunk);
    return hash.digest("hex");
  } finally {
    await file.close();
  }
}
