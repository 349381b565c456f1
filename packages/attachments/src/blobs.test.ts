import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createBlobs } from "./blobs.ts";

function open() {
  const folder = mkdtempSync(join(tmpdir(), "blobs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const dir = join(folder, "media");
  return { dir, blobs: createBlobs(dir) };
}

const bytes = (text: string) => new TextEncoder().encode(text);
const read = async (stream: ReadableStream<Uint8Array> | undefined) =>
  stream === undefined ? undefined : Buffer.from(await new Response(stream).arrayBuffer()).toString();

it("stores bytes once, by their hash, readable only by the owner", async () => {
  const { dir, blobs } = open();
  const ids = await Promise.all([blobs.put(bytes("one")), blobs.put(bytes("one")), blobs.put(bytes("two"))]);
  expect(ids[0]).toBe("7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed");
  expect(ids[1]).toBe(ids[0]);
  expect(readdirSync(dir).toSorted()).toEqual([...new Set(ids)].toSorted());
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(statSync(join(dir, ids[0])).mode & 0o777).toBe(0o600);
  expect(await read(await blobs.open(ids[0]))).toBe("one");
  expect(await read(await blobs.open(ids[2]))).toBe("two");
});

it("repairs a truncated blob, and opens only its own files", async () => {
  const { dir, blobs } = open();
  const id = await blobs.put(bytes("whole"));
  writeFileSync(join(dir, id), "who");
  expect(await blobs.put(bytes("whole"))).toBe(id);
  expect(await read(await blobs.open(id))).toBe("whole");
  const absent = "0".repeat(64);
  expect(await blobs.open(absent)).toBeUndefined();
  symlinkSync("/etc/passwd", join(dir, absent));
  expect(await blobs.open(absent)).toBeUndefined();
  for (const odd of ["../signalbox.db", "", "a/b", `${id}/..`])
    await expect(blobs.open(odd)).rejects.toThrow("not the id");
});

it("removes old blobs, except those that were put again meanwhile", async () => {
  const { dir, blobs } = open();
  const [old, again] = await Promise.all([blobs.put(bytes("old")), blobs.put(bytes("again"))]);
  const fresh = await blobs.put(bytes("fresh"));
  writeFileSync(join(dir, ".half.tmp"), "half");
  const before = Date.now() - 1_000;
  for (const name of [old, again, ".half.tmp"]) utimesSync(join(dir, name), 1, 1);
  const found = await blobs.olderThan(before);
  expect(found.toSorted()).toEqual([old, again].toSorted());
  await blobs.put(bytes("again"));
  expect(await blobs.remove(found, before)).toBe(1);
  expect(readdirSync(dir).toSorted()).toEqual([again, fresh].toSorted());
});

it("copies a blob to a file, unless its content does not match its id", async () => {
  const { dir, blobs } = open();
  const [whole, cut] = await Promise.all([blobs.put(bytes("whole")), blobs.put(bytes("to be cut"))]);
  const copy = (id: string) => blobs.copy(id, join(dir, `copy-${id}`));
  expect(await copy(whole)).toBe(5);
  expect(readFileSync(join(dir, `copy-${whole}`), "utf8")).toBe("whole");
  writeFileSync(join(dir, cut), "cut");
  expect(await copy(cut)).toBeUndefined();
  expect(await copy("0".repeat(64))).toBeUndefined();
  expect(readdirSync(dir)).not.toContain(`copy-${cut}`);
});
