import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Returns the total size of the files in a folder, in bytes, up to a limit. Files that disappear meanwhile count 0. */
export async function getFolderSize(folder: string, max: number): Promise<number> {
  let bytes = 0;
  const queue = [folder];
  for (let dir = queue.pop(); dir !== undefined && bytes <= max; dir = queue.pop()) {
    for (const entry of await readdir(dir, { withFileTypes: true }).catch(() => [])) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) queue.push(path);
      else bytes += (await lstat(path).catch(() => undefined))?.size ?? 0;
    }
  }
  return bytes;
}
