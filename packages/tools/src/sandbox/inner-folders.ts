import { closeSync, constants, openSync } from "node:fs";
import { inside } from "../workspace/paths.ts";

/** A folder to read that lies in the workspace, open. */
export interface InnerFolder {
  readonly path: string;
  readonly descriptor: number;
}

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Opens, for as long as they are used, those of some folders that lie in the workspace: from there on and never through
 * a link, since a command that runs already can put one on the way, and the launcher would follow it. What is no folder
 * is left out; a command sees it as it sees the rest of the workspace.
 */
export function withInnerFolders<Result>(
  workspace: string,
  folders: readonly string[],
  use: (inner: readonly InnerFolder[]) => Result,
): Result {
  const opened: InnerFolder[] = [];
  try {
    for (const path of folders) {
      if (path === workspace || !inside(path, workspace)) continue;
      const descriptor = openBelow(workspace, path.slice(workspace.length + 1).split("/"));
      if (descriptor !== undefined) opened.push({ path, descriptor });
    }
    return use(opened);
  } finally {
    for (const { descriptor } of opened) closeSync(descriptor);
  }
}

function openBelow(workspace: string, names: readonly string[]): number | undefined {
  let folder = openSync(workspace, FLAGS);
  for (const name of names) {
    const outer = folder;
    try {
      folder = openSync(`/proc/self/fd/${outer}/${name}`, FLAGS);
    } catch {
      return undefined;
    } finally {
      closeSync(outer);
    }
  }
  return folder;
}
