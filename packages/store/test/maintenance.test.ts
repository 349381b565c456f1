import fs from "node:fs";
import Sqlite from "better-sqlite3";
import { expect, test, vi } from "vitest";
import { temporaryFolder, testStore } from "./support.ts";

test("vacuum returns space while reads and writes continue", async () => {
  const path = `${temporaryFolder()}/a.db`;
  const { store, time } = await testStore({ path });
  for (let i = 0; i < 200; i += 1) await store.kv.set("n", String(i), "x".repeat(10_000), 1);
  await store.kv.set("n", "kept", 1);
  await store.admin.checkpoint();
  const before = fs.statSync(path).size;
  time.now += 10;
  await store.maintenance.prune();
  expect((await store.admin.file()).freeBytes).toBeGreaterThan(1_000_000);
  const vacuum = store.admin.vacuum();
  const writes = Array.from({ length: 20 }, (_, i) => store.kv.set("m", String(i), i));
  expect((await vacuum).freedBytes).toBeGreaterThan(1_000_000);
  await Promise.all(writes);
  await store.admin.checkpoint();
  expect(fs.statSync(path).size).toBeLessThan(before / 4);
  expect(await store.kv.list("m")).toHaveLength(20);
  expect(await store.kv.get("n", "kept")).toBe(1);
});

test("the log is checkpointed automatically and reused", async () => {
  const path = `${temporaryFolder()}/a.db`;
  const { store } = await testStore({ path });
  for (let i = 0; i < 120; i += 1) {
    await Promise.all(Array.from({ length: 40 }, (_, k) => store.kv.set("n", `${i}-${k}`, "x".repeat(9000))));
  }
  const file = await store.admin.file();
  expect(file.fileBytes).toBeGreaterThan(40_000_000);
  expect(file.walBytes).toBeLessThan(file.fileBytes / 2);
  expect(await store.admin.integrity()).toEqual({ ok: true, problems: [] });
});

test("a reader of an old snapshot does not cause a checkpoint attempt for every commit", async () => {
  const path = `${temporaryFolder()}/a.db`;
  const { store } = await testStore({ path });
  await store.kv.set("a", "b", 1);
  const reader = new Sqlite(path);
  reader.exec("BEGIN; SELECT count(*) FROM kv");
  const pragma = vi.spyOn(Sqlite.prototype, "pragma");
  const writeMuch = async () => {
    for (let i = 0; i < 100; i += 1) await store.kv.set("large", "value", String(i % 10).repeat(200_000));
  };
  await writeMuch();
  for (let i = 0; i < 50; i += 1) await store.kv.set("small", "value", i);
  const copied = pragma.mock.calls.filter(([text]) => text === "wal_checkpoint(PASSIVE)").length;
  reader.close();
  for (let i = 0; i < 3; i += 1) await writeMuch();
  vi.restoreAllMocks();
  expect(copied).toBeGreaterThan(0);
  expect(copied).toBeLessThan(4);
  expect((await store.admin.file()).walBytes).toBeLessThan(60_000_000);
});
