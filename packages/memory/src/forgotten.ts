import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { hashOf } from "./hash.ts";
import { isMissing } from "./notes/folder.ts";

/** Hashes of the ids of forgotten turns, so that rereading the conversations does not restore them. */
export interface Forgotten {
  has(id: string): boolean;
  add(ids: readonly string[]): Promise<void>;
}

/** Without a path, the hashes are kept in memory only. */
export async function openForgotten(path: string | undefined): Promise<Forgotten> {
  const hashes = new Set(path === undefined ? [] : await readLines(path));
  return {
    has: (id) => hashes.size > 0 && hashes.has(hashOf(id)),
    async add(ids) {
      const added = ids.map(hashOf).filter((hash) => !hashes.has(hash));
      if (added.length === 0) return;
      if (path !== undefined) {
        await mkdir(dirname(path), { recursive: true });
        await appendFile(path, added.map((hash) => `${hash}\n`).join(""), { mode: 0o600, flush: true });
      }
      for (const hash of added) hashes.add(hash);
    },
  };
}

async function readLines(path: string): Promise<string[]> {
  try {
    return (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
