import { closeSync, constants, openSync } from "node:fs";
import { isInside } from "../workspace/paths.ts";

/** An open folder inside the workspace that commands may read. */
export interface InnerFolder {
  readonly path: string;
  readonly descriptor: number;
}

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Opens the folders inside the workspace and closes them after use. Opens each component without following links,
 * because a running command could replace it with a link, which the launcher would follow. Skips entries that are not
 * folders. A command sees them like the rest of the workspace.
 */
export function withInnerFolders<Result>(
  workspace: string,
  folders: readonly string[],
  use: (inner: readonly InnerFolder[]) => Result,
): Result {
  const opened: InnerFolder[] = [];
  try {
    for (const path of folders) {
      if (path === workspace || !isInside(path, workspace)) continue;
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
