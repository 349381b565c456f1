import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { WorkspaceError } from "./errors.ts";

/** Names that some file system takes for the same. */
export function fold(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

/** Whether a path is a folder, or something in it. */
export function inside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** A folder without links on its way. @throws WorkspaceError `not_found` or `not_a_folder` */
export async function realFolder(dir: string): Promise<string> {
  const real = await realpath(dir).catch((error: unknown) => {
    throw new WorkspaceError("not_found", `The folder ${dir} does not exist.`, { cause: error });
  });
  if (!(await stat(real)).isDirectory()) throw new WorkspaceError("not_a_folder", `${dir} is not a folder.`);
  return real;
}

/** A path as it is given, and as it really leads where that is another. */
export async function realOrGiven(path: string): Promise<string[]> {
  const given = resolve(path);
  const real = await realpath(given).catch(() => given);
  return real === given ? [given] : [given, real];
}
