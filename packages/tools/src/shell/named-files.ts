import { createHash } from "node:crypto";
import { relative, resolve } from "node:path";
import { getVisibleWorkspace } from "../files/places.ts";
import type { NamedFile, RunFacts } from "../types.ts";
import { isInside } from "../workspace/paths.ts";
import type { Workspace } from "../workspace/workspace.ts";

const MAX_FILES = 50;
/** Maximum number of paths to examine: each word, relative to each folder that the command may have changed to. */
const MAX_PLACES = 20_000;

/**
 * Returns the workspace files that a command names, with the hash of their current content. Words are also resolved
 * relative to each folder that the command names, because it may change to that folder first. Files that are matched by
 * a pattern, named in a script, or hidden from the run are not included.
 */
export async function findNamedFiles(
  workspace: Workspace,
  cwd: string,
  words: readonly string[],
  facts: RunFacts,
): Promise<readonly NamedFile[]> {
  const visible = getVisibleWorkspace(workspace, facts);
  const files: NamedFile[] = [];
  const examined = new Set<string>();
  const folders = [cwd];
  for (const folder of folders) {
    for (const path of words.map((word) => resolve(folder, word))) {
      if (examined.has(path) || !isInside(path, workspace.dir) || path === workspace.dir) continue;
      if (examined.add(path).size > MAX_PLACES)
        throw new Error(`the command refers to more than ${MAX_PLACES} paths, which is too many to show`);
      const sha256 = await hashFile(visible, path);
      if (sha256 === undefined) {
        if (await isFolder(visible, path)) folders.push(path);
        continue;
      }
      files.push({ path: relative(workspace.dir, path), sha256 });
      if (files.length > MAX_FILES) throw new Error(`the command refers to more than ${MAX_FILES} files`);
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

async function hashFile(workspace: Workspace, path: string): Promise<string | undefined> {
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
