import { type FileHandle, mkdtemp, open, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { createBlobs } from "./blobs.ts";
import { createUploads } from "./uploads.ts";

const ID = "an-id-of-16-chars";
const word = new TextEncoder().encode("word");

/** Creates an empty folder and records the inodes that are synced from then on, in order. */
async function watched() {
  const home = await mkdtemp(join(tmpdir(), "signalbox-folders-"));
  const handle = await open(home);
  await handle.close();
  const synced: number[] = [];
  const sync = vi
    .spyOn<FileHandle, "sync">(Object.getPrototypeOf(handle), "sync")
    .mockImplementation(async function (this: FileHandle) {
      synced.push((await this.stat()).ino);
    });
  onTestFinished(async () => {
    sync.mockRestore();
    await rm(home, { recursive: true });
  });
  const inodes = (...paths: string[]) => Promise.all(paths.map(async (path) => (await stat(path)).ino));
  return { home, synced, inodes };
}

it("syncs every folder that it creates for an upload", async () => {
  const { home, synced, inodes } = await watched();
  const [media, dir] = [join(home, "media"), join(home, "media", "uploads")];
  const uploads = createUploads({ dir, maxBytes: 10, now: () => 1 });
  await uploads.add({ owner: "alice", id: ID, at: 0, bytes: word });
  const folder = join(dir, (await readdir(dir))[0] ?? "");
  expect(synced).toEqual(await inodes(dir, media, home, join(folder, ID), folder));
  await uploads.add({ owner: "alice", id: ID, at: 4, bytes: word });
  expect(synced.slice(5)).toEqual(await inodes(join(folder, ID)));
});

it("syncs the folder that it creates for a blob", async () => {
  const { home, synced, inodes } = await watched();
  const dir = join(home, "media");
  const blob = await createBlobs(dir).put(word);
  expect(synced).toEqual(await inodes(home, join(dir, blob), dir));
});
