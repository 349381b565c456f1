import { mkdtemp, type open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { createBlobs } from "./blobs.ts";
import { createUploads } from "./uploads.ts";

const ID = "an-id-of-16-chars";
/** What was synced, by its path, in order. */
const synced: string[] = [];

vi.mock("node:fs/promises", async (original) => {
  const real = await original<{ open: typeof open }>();
  const recording: typeof open = async (path, ...more) => {
    const handle = await real.open(path, ...more);
    const sync = handle.sync.bind(handle);
    handle.sync = () => {
      synced.push(String(path));
      return sync();
    };
    return handle;
  };
  return { ...real, open: recording };
});

beforeEach(() => synced.splice(0));

async function emptyFolder(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "signalbox-folders-"));
  onTestFinished(() => rm(home, { recursive: true }));
  return home;
}

it("an upload is on the disk with every folder that is made for it, also the first of all", async () => {
  const home = await emptyFolder();
  const uploads = createUploads({ dir: join(home, "media", "uploads"), maxBytes: 10, now: () => 1 });
  const add = (id: string, at: number) =>
    uploads.add({ owner: "alice", id, at, bytes: new TextEncoder().encode("word") });
  await add(ID, 0);
  expect(synced).toEqual(expect.arrayContaining([home, join(home, "media"), join(home, "media", "uploads")]));
  const [folder = ""] = synced.filter((path) => /\/[0-9a-f]{32}$/.test(path));
  expect(synced.slice(-2)).toEqual([join(folder, ID), folder]);
  synced.splice(0);
  await add(ID, 4);
  expect(synced).toEqual([join(folder, ID)]);
});

it("a blob is on the disk with the folder that is made for it", async () => {
  const home = await emptyFolder();
  await createBlobs(join(home, "media")).put(new TextEncoder().encode("word"));
  expect(synced).toEqual([home, expect.stringContaining(join(home, "media")), join(home, "media")]);
});
