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

it("keeps bytes under their hash, once, for the owner alone", async () => {
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

it("writes again what was cut, and opens nothing but a file of its own", async () => {
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

it("removes what is old, but not what was put again meanwhile", async () => {
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

it("copies a blob into a file, and nothing that is not what its id says", async () => {
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
