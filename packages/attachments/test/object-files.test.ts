import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createObjectBlobs, createObjectUploads, pruneBlobs, type Uploads } from "../src/index.ts";
import { createMemoryObjects } from "./memory-objects.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ID = "an-id-of-16-chars";
const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = (body: ReadableStream<Uint8Array> | undefined) => body && new Response(body).text();

function openShared() {
  const time = { now: Date.UTC(2026, 10, 29) };
  const now = () => time.now;
  return { time, now, objects: createMemoryObjects(now) };
}

describe("blobs that gateways share", () => {
  it("can be read at every gateway, and are stored once for repeated sends", async () => {
    const { objects, now } = openShared();
    const [one, two] = [createObjectBlobs(objects, now), createObjectBlobs(objects, now)];
    const id = await one.put(bytes("hello"));
    expect(await two.put(bytes("hello"))).toBe(id);
    expect(objects.keys()).toHaveLength(1);
    expect(await textOf(await two.open(id))).toBe("hello");
    expect(await two.open("0".repeat(64))).toBeUndefined();
    await expect(two.open("../secret")).rejects.toThrow("is not the id of a blob");
  });

  it("survive a prune of another gateway that read the list before they were put again", async () => {
    const { objects, time, now } = openShared();
    const [one, two] = [createObjectBlobs(objects, now), createObjectBlobs(objects, now)];
    const id = await one.put(bytes("hello"));
    time.now += 2 * HOUR;
    const removed = await pruneBlobs(
      two,
      async () => {
        await one.put(bytes("hello"));
        return new Set();
      },
      now(),
    );
    expect(removed).toBe(1);
    expect(await textOf(await one.open(id))).toBe("hello");
    // The copy is as old as an outbox row may become before it is committed.
    time.now += 59 * MINUTE;
    expect(await pruneBlobs(two, async () => new Set(), now())).toBe(0);
    time.now += 2 * MINUTE;
    expect(await pruneBlobs(two, async () => new Set([id]), now())).toBe(0);
    expect(await pruneBlobs(two, async () => new Set(), now())).toBe(1);
    expect(objects.keys()).toEqual([]);
  });

  it("are copied only if their content matches their id", async () => {
    const { objects, now } = openShared();
    const dir = await mkdtemp(join(tmpdir(), "signalbox-blobs-"));
    onTestFinished(() => rm(dir, { recursive: true }));
    const blobs = createObjectBlobs(objects, now);
    const id = await blobs.put(bytes("hello"));
    expect(await blobs.copy(id, join(dir, "a"))).toBe(5);
    expect(await readFile(join(dir, "a"), "utf8")).toBe("hello");
    for (const key of objects.keys()) await objects.put(key, bytes("damaged"));
    expect(await blobs.copy(id, join(dir, "b"))).toBeUndefined();
    await expect(readFile(join(dir, "b"))).rejects.toThrow("ENOENT");
    expect(await blobs.copy("0".repeat(64), join(dir, "c"))).toBeUndefined();
  });
});

describe("uploads that gateways share", () => {
  function openUploads() {
    const { objects, time, now } = openShared();
    const open = () =>
      createObjectUploads({
        objects,
        name: "uploads",
        maxBytes: 10,
        quotaBytes: 15,
        quotaFiles: 2,
        totalBytes: 25,
        now,
      });
    return { one: open(), two: open(), objects, time };
  }
  const add = (uploads: Uploads, id: string, at: number, text: string, owner = "alice") =>
    uploads.add({ owner, id, at, bytes: bytes(text) });
  const none = async () => [];

  it("are assembled from pieces that arrive at different gateways", async () => {
    const { one, two } = openUploads();
    expect(await add(one, ID, 0, "hello")).toEqual({ kind: "added", bytes: 5 });
    expect(await add(two, ID, 0, "hello")).toEqual({ kind: "out_of_order", bytes: 5 });
    expect(await add(two, ID, 9, "late")).toEqual({ kind: "out_of_order", bytes: 5 });
    expect(await Promise.all([add(two, ID, 5, "!"), add(two, ID, 5, "!")])).toEqual([
      { kind: "added", bytes: 6 },
      { kind: "out_of_order", bytes: 6 },
    ]);
    const upload = await one.open("alice", ID);
    expect([upload?.size, await textOf(upload?.body)]).toEqual([6, "hello!"]);
    expect(await one.open("bob", ID)).toBeUndefined();
    expect(await one.open("alice", "../../../etc/passwd")).toBeUndefined();
    await expect(add(one, "../secret-of-others", 0, "x")).rejects.toThrow("is not the id of an upload");
  });

  it("are limited per file, per owner and over all owners", async () => {
    const { one, two } = openUploads();
    expect(await add(one, ID, 0, "x".repeat(11))).toEqual({ kind: "too_large", bytes: 0 });
    await add(one, ID, 0, "x".repeat(10));
    expect(await add(two, `${ID}-2`, 0, "x".repeat(6))).toEqual({ kind: "full", bytes: 0 });
    await add(two, `${ID}-2`, 0, "x");
    expect(await add(one, `${ID}-3`, 0, "x")).toEqual({ kind: "full", bytes: 0 });
    expect((await add(one, ID, 0, "x".repeat(10), "bob")).kind).toBe("added");
    expect((await add(one, ID, 0, "x".repeat(6), "carol")).kind).toBe("full");
    await two.remove("bob");
    expect((await add(two, ID, 0, "x".repeat(5), "carol")).kind).toBe("added");
  });

  it("are removed a day after the last piece, unless a message needs them", async () => {
    const { one, two, objects, time } = openUploads();
    await add(one, ID, 0, "a");
    await add(one, `${ID}-2`, 0, "b");
    time.now += 23 * HOUR;
    await add(two, ID, 1, "a");
    time.now += 2 * HOUR;
    expect(await two.prune(async () => [{ owner: "alice", id: `${ID}-2` }])).toBe(0);
    expect(await two.prune(none)).toBe(1);
    expect(objects.keys()).toHaveLength(2);
    time.now += 24 * HOUR;
    expect(await one.prune(none)).toBe(1);
    expect(objects.keys()).toEqual([]);
  });
});
