import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, stat, unlink } from "node:fs/promises";
import type { Place } from "./walk.ts";

/** Writes a temporary file and renames it, so that a reader sees either the old or the new content. */
export async function replaceFile(place: Place, content: Uint8Array): Promise<void> {
  const mode = place.type === "file" ? (await stat(place.access)).mode & 0o777 : undefined;
  const temporary = `${place.folderAccess}/.signalbox-${randomBytes(8).toString("hex")}.tmp`;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(temporary, flags, 0o644);
  try {
    try {
      await handle.writeFile(content);
      if (mode !== undefined) await handle.chmod(mode);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(temporary, place.access);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
}
