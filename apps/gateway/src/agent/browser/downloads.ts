import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Download, MAX_DOWNLOAD_BYTES } from "@signalbox/tools";

/** Maximum number of downloads in a list. */
const MAX_DOWNLOADS = 100;
/** Screenshots, logs and snapshots of `@playwright/mcp`. */
const OWN_FILE = /^(?:page|console|element|request|result)-\d{4}-\d\d-\d\dT[\d-]+Z?\.\w+$/;

/** Lists the downloads of a browser. The browser is not trusted, so everything but regular files is ignored. */
export async function listDownloads(folder: string): Promise<readonly Download[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => !OWN_FILE.test(name));
  const downloads: Download[] = [];
  for (const name of names.toSorted().slice(0, MAX_DOWNLOADS)) {
    const info = await lstat(join(folder, name)).catch(() => undefined);
    if (info?.isFile()) downloads.push({ name, bytes: info.size });
  }
  return downloads;
}

/**
 * Reads a download.
 *
 * @throws Error if no download has this name, or if it is too large
 */
export async function readDownload(folder: string, name: string): Promise<Uint8Array> {
  const found = (await listDownloads(folder)).some((download) => download.name === name);
  if (!found) throw new Error(`There is no download ${JSON.stringify(name)}. browser_downloads lists them.`);
  // The browser could replace the file by a link, or by a pipe without a writer, after it was listed.
  const file = await open(
    join(folder, name),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  );
  try {
    return await readAtMost(file, name);
  } finally {
    await file.close();
  }
}

async function readAtMost(file: FileHandle, name: string): Promise<Uint8Array> {
  const info = await file.stat();
  if (!info.isFile()) throw new Error(`${JSON.stringify(name)} is not a file.`);
  if (info.size > MAX_DOWNLOAD_BYTES)
    throw new Error(
      `${JSON.stringify(name)} has ${info.size} bytes, and at most ${MAX_DOWNLOAD_BYTES} can be saved.`,
    );
  // The file may grow while it is read, so the buffer has the size that was checked.
  const buffer = Buffer.alloc(info.size);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}
