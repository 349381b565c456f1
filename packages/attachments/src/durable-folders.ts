import { constants } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";

/** Creates a folder and its parents durably. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/** Syncs a folder. Without it, a new file could be lost in a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  await folder.sync().finally(() => folder.close());
}
