import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { WorkspaceError } from "./errors.ts";

/** Normalizes a path so that two names are equal if any file system treats them as equal. */
export function fold(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

/** Returns true if a path is a folder or inside it. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/**
 * Resolves the links in a folder's path.
 *
 * @throws WorkspaceError `not_found` or `not_a_folder`
 */
export async function resolveFolder(dir: string): Promise<string> {
  const real = await realpath(dir).catch((error: unknown) => {
    throw new WorkspaceError("not_found", `The folder ${dir} does not exist.`, { cause: error });
  });
  if (!(await stat(real)).isDirectory()) throw new WorkspaceError("not_a_folder", `${dir} is not a folder.`);
  return real;
}

/** Returns the absolute path, followed by the path with links resolved if it is different. */
export async function resolveVariants(path: string): Promise<string[]> {
  const absolute = resolve(path);
  const real = await realpath(absolute).catch(() => absolute);
  return real === absolute ? [absolute] : [absolute, real];
}
