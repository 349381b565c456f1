import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Uploads } from "./upload-contract.ts";
import { createUploads } from "./uploads.ts";

const HOUR = 60 * 60 * 1000;
const ID = "an-id-of-16-chars";
const bytes = (text: string) => new TextEncoder().encode(text);
let dir: string;
let at = Date.now();
let uploads: Uploads;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "signalbox-uploads-"));
  at = Date.now();
  uploads = createUploads({
    dir: join(dir, "new"),
    maxBytes: 10,
    quotaBytes: 15,
    quotaFiles: 2,
    totalBytes: 25,
    now: () => at,
  });
});
afterEach(() => rm(dir, { recursive: true }));

const add = (id: string, from: number, text: string, owner = "alice") =>
  uploads.add({ owner, id, at: from, bytes: bytes(text) });
const none = async () => [];
const read = async (owner: string, id: string) => {
  const upload = await uploads.open(owner, id);
  return upload && new Response(upload.body).text();
};

describe("uploads", () => {
  it("are assembled from pieces, each of which is added once", async () => {
    expect(await add(ID, 0, "hello")).toEqual({ kind: "added", bytes: 5 });
    // The response was lost, so the piece is sent again.
    expect(await add(ID, 0, "hello")).toEqual({ kind: "out_of_order", bytes: 5 });
    expect(await add(ID, 9, "late")).toEqual({ kind: "out_of_order", bytes: 5 });
    expect(await Promise.all([add(ID, 5, "!"), add(ID, 5, "!")])).toEqual([
      { kind: "added", bytes: 6 },
      { kind: "out_of_order", bytes: 6 },
    ]);
    expect(await read("alice", ID)).toBe("hello!");
  });

  it("can be opened only by their owner", async () => {
    await add(ID, 0, "hello");
    expect(await read("bob", ID)).toBeUndefined();
    expect(await add(ID, 0, "mine", "bob")).toEqual({ kind: "added", bytes: 4 });
    expect(await read("alice", ID)).toBe("hello");
  });

  it("are limited per file and per owner", async () => {
    expect(await add(ID, 0, "x".repeat(11))).toEqual({ kind: "too_large", bytes: 0 });
    await add(ID, 0, "x".repeat(10));
    expect(await add(ID, 10, "x")).toEqual({ kind: "too_large", bytes: 10 });
    expect(await add(`${ID}-2`, 0, "x".repeat(6))).toEqual({ kind: "full", bytes: 0 });
    await add(`${ID}-2`, 0, "x");
    expect(await add(`${ID}-3`, 0, "x")).toEqual({ kind: "full", bytes: 0 });
    expect((await add(ID, 0, "x", "bob")).kind).toBe("added");
  });

  it("are limited over all owners, even after a restart", async () => {
    for (const owner of ["alice", "bob"]) await add(ID, 0, "x".repeat(10), owner);
    expect(await add(ID, 0, "x".repeat(6), "carol")).toEqual({ kind: "full", bytes: 0 });
    const later = createUploads({ dir: join(dir, "new"), maxBytes: 10, totalBytes: 25, now: () => at });
    const piece = { owner: "carol", id: ID, at: 0 };
    expect((await later.add({ ...piece, bytes: bytes("x".repeat(6)) })).kind).toBe("full");
    expect((await later.add({ ...piece, bytes: bytes("x".repeat(5)) })).kind).toBe("added");
    at += 25 * HOUR;
    expect(await later.prune(none)).toBe(3);
    expect((await later.add({ ...piece, bytes: bytes("x".repeat(10)) })).kind).toBe("added");
  });

  it("are removed a day after the last piece", async () => {
    await add(ID, 0, "hello");
    expect(await uploads.prune(none)).toBe(0);
    at += 25 * HOUR;
    expect(await uploads.prune(none)).toBe(1);
    expect(await read("alice", ID)).toBeUndefined();
  });

  it("stay as long as they are needed", async () => {
    await add(ID, 0, "hello");
    await add(`${ID}-2`, 0, "word");
    await add(ID, 0, "other", "bob");
    at += 72 * HOUR;
    expect(await uploads.prune(async () => [{ owner: "alice", id: ID }])).toBe(2);
    expect(await read("alice", ID)).toBe("hello");
    expect(await uploads.prune(none)).toBe(1);
  });

  it("all stay if the needed ones are unknown", async () => {
    await add(ID, 0, "hello");
    at += 25 * HOUR;
    await expect(uploads.prune(() => Promise.reject(new Error("no database")))).rejects.toThrow();
    expect(await read("alice", ID)).toBe("hello");
  });

  it("stay if they become a day old while the needed ones are looked up", async () => {
    await add(ID, 0, "old");
    await add(`${ID}-2`, 0, "young");
    const [folder = ""] = await readdir(join(dir, "new"));
    const later = new Date(at + 12 * HOUR);
    await utimes(join(dir, "new", folder, `${ID}-2`), later, later);
    at += 25 * HOUR;
    const asked = async () => {
      at += 24 * HOUR;
      return [];
    };
    expect(await uploads.prune(asked)).toBe(1);
    expect(await read("alice", `${ID}-2`)).toBe("young");
  });

  it("work beside other files in the folder", async () => {
    await mkdir(join(dir, "new"));
    // The Finder of macOS creates such files.
    await writeFile(join(dir, "new", ".DS_Store"), "x".repeat(30));
    expect((await add(ID, 0, "hello")).kind).toBe("added");
    at += 25 * HOUR;
    expect(await uploads.prune(none)).toBe(1);
    expect(await readdir(join(dir, "new"))).toEqual([".DS_Store"]);
  });

  it.each(["../../etc/passwd", "short", ".", "a/b-a/b-a/b-a/b-a/b", `${"x".repeat(65)}`])(
    "have no id %j",
    async (id) => {
      await expect(add(id, 0, "x")).rejects.toThrow(TypeError);
      expect(await read("alice", id)).toBeUndefined();
      expect(await readdir(dir)).toEqual([]);
    },
  );
});
