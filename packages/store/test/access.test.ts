import fs from "node:fs";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { openStore } from "../src/index.ts";
import { accepted, LATEST_VERSION, temporaryFolder, testStore } from "./support.ts";

/** A file as an earlier version wrote it. */
async function olderFile(): Promise<string> {
  const path = `${temporaryFolder()}/a.db`;
  await (await openStore({ path })).close();
  const raw = new Sqlite(path);
  raw.pragma("user_version = 0");
  raw.exec("DROP TABLE kv");
  raw.close();
  return path;
}

test.each(["read", "share"] as const)(
  "opening with access %s does not migrate a file of an earlier version",
  async (access) => {
    const path = await olderFile();
    const before = fs.readFileSync(path);
    const refused = openStore({ path, access });
    await expect(refused).rejects.toMatchObject({ code: "store_older" });
    await expect(refused).rejects.toThrow(`version 0, and this program reads version ${LATEST_VERSION}`);
    expect(fs.readFileSync(path).equals(before)).toBe(true);
  },
);

test("opening without ownership does not create a file", async () => {
  const path = `${temporaryFolder()}/a.db`;
  for (const access of ["read", "share"] as const)
    await expect(openStore({ path, access })).rejects.toMatchObject({ code: "invalid" });
  expect(fs.existsSync(path)).toBe(false);
});

test("a reader sees the owner's commits and cannot write", async () => {
  const path = `${temporaryFolder()}/a.db`;
  const { store: owner } = await testStore({ path });
  const { store: reader } = await testStore({ path, access: "read" });
  const id = await accepted(owner, "one");
  expect(await reader.inbox.get(id)).toMatchObject({ payload: { text: "one" } });
  await expect(reader.kv.set("a", "b", 1)).rejects.toMatchObject({ code: "invalid" });
  expect(await owner.kv.get("a", "b")).toBeUndefined();
});

test("a reader opens a file without an owner", async () => {
  const path = `${temporaryFolder()}/a.db`;
  const first = await openStore({ path });
  const id = await accepted(first, "one");
  await first.close();
  const { store } = await testStore({ path, access: "read" });
  expect(await store.inbox.get(id)).toMatchObject({ payload: { text: "one" } });
});

test("a sharing process reads and writes next to the owner", async () => {
  const path = `${temporaryFolder()}/a.db`;
  const { store: owner } = await testStore({ path });
  const { store: other } = await testStore({ path, access: "share" });
  await other.kv.set("a", "b", 1);
  expect(await owner.kv.get("a", "b")).toBe(1);
});
