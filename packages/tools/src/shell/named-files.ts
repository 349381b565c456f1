import { createHash } from "node:crypto";
import { relative, resolve } from "node:path";
import { isVisible } from "../files/places.ts";
import type { NamedFile, RunFacts } from "../types.ts";
import { inside } from "../workspace/paths.ts";
import type { Workspace } from "../workspace/workspace.ts";

const MAX_FILES = 50;
/** Places that are looked at: words, from each folder that the command may have gone to. */
const MAX_PLACES = 20_000;

/**
 * The files of a workspace that a command names, with the hash of what they hold now; from each folder that it names,
 * too, since it may go there first. Those that it finds by a pattern, that a script of its own names, or that its run
 * may not know of, are not among them.
 */
export async function namedFiles(
  workspace: Workspace,
  cwd: string,
  words: readonly string[],
  facts: RunFacts,
): Promise<readonly NamedFile[]> {
  const files: NamedFile[] = [];
  const looked = new Set<string>();
  const folders = [cwd];
  for (const folder of folders) {
    for (const path of words.map((word) => resolve(folder, word))) {
      if (looked.has(path) || !inside(path, workspace.dir) || path === workspace.dir) continue;
      if (looked.add(path).size > MAX_PLACES)
        throw new Error("the command names too many places to be shown");
      const sha256 = await hashOfFile(workspace, path, facts);
      if (sha256 === undefined) {
        if (await isFolder(workspace, path)) folders.push(path);
        continue;
      }
      files.push({ path: relative(workspace.dir, path), sha256 });
      if (files.length > MAX_FILES) throw new Error(`the command names more than ${MAX_FILES} files`);
    }
  }
  return files;
}

function isFolder(workspace: Workspace, path: string): Promise<boolean> {
  return workspace.locateFolder(path).then(
    () => true,
    () => false,
  );
}

async function hashOfFile(workspace: Workspace, path: string, facts: RunFacts): Promise<string | undefined> {
  const file = await workspace.openFile(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    if (!isVisible(file.displayPath, facts)) return undefined;
    const hash = createHash("sha256");
    for await (const chunk of file.handle.createReadStream({ autoClose: false })) hash.update(chunk);
    return hash.digest("hex");
  } finally {
    await file.close();
  }
}
