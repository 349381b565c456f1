import { createHash, randomBytes } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { expect, onTestFinished } from "vitest";
import { openEmpty, test } from "./support.ts";

async function openObjects() {
  const { store, time } = await openEmpty();
  onTestFinished(() => store.close());
  const { objects } = store;
  if (objects === undefined) throw new Error("the store is not shared");
  const read = async (key: string) => {
    const body = await objects.open(key);
    return body && buffer(body);
  };
  return { objects, time, read };
}

test("objects of every size are stored and read in pieces", async () => {
  const { objects, time, read } = await openObjects();
  const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  for (const size of [0, 1, 2 ** 20, 2 ** 20 + 1, 3 * 2 ** 20 + 7]) {
    const bytes = randomBytes(size);
    await objects.put(`media/${size}`, bytes);
    const stored = await read(`media/${size}`);
    expect(stored?.byteLength).toBe(size);
    expect(digest(stored ?? Buffer.of(1))).toBe(digest(bytes));
  }
  expect((await objects.list("media/1")).map(({ key, size, changedAt }) => [key, size, changedAt])).toEqual([
    ["media/1", 1, time.now],
    ["media/1048576", 2 ** 20, time.now],
    ["media/1048577", 2 ** 20 + 1, time.now],
  ]);
  expect(await read("media/2")).toBeUndefined();
});

test("an object is replaced as a whole and can be removed", async () => {
  const { objects, time, read } = await openObjects();
  await objects.put("a/b", randomBytes(2 ** 20 + 1));
  time.now += 5_000;
  await objects.put("a/b", Buffer.from("short"));
  expect(String(await read("a/b"))).toBe("short");
  expect(await objects.list("a/")).toEqual([{ key: "a/b", size: 5, changedAt: time.now }]);
  // Not a pattern.
  expect(await objects.list("_/")).toEqual([]);
  await objects.remove(["a/b", "a/c"]);
  expect(await read("a/b")).toBeUndefined();
  await objects.put("a/b", Buffer.from("again"));
  expect(String(await read("a/b"))).toBe("again");
});

test("an object that is removed while it is read ends with an error", async () => {
  const { objects } = await openObjects();
  await objects.put("a/b", randomBytes(2 ** 21));
  const body = await objects.open("a/b");
  if (body === undefined) throw new Error("it does not exist");
  const reader = body.getReader();
  await reader.read();
  await objects.remove(["a/b"]);
  await expect(reader.read()).rejects.toThrow("The object a/b was removed");
});
