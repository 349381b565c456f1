import { expect, it } from "vitest";
import { type CrashCountStore, createCrashCounts } from "../src/index.ts";

function memory(): CrashCountStore & { readonly kept: Map<string, number> } {
  const kept = new Map<string, number>();
  return {
    kept,
    read: async (id) => kept.get(id) ?? 0,
    write: async (id, count) => void kept.set(id, count),
    remove: async (id) => void kept.delete(id),
  };
}

it("counts the processes that crashed during the work, but not those that stopped cleanly", async () => {
  const store = memory();
  const counted: number[] = [];
  for (const ending of ["clean", "crash", "clean", "crash", "clean"]) {
    const counts = createCrashCounts(store);
    counted.push(await counts.get("m1"));
    await counts.begin("m1");
    if (ending === "clean") await counts.stopCleanly();
  }
  expect(counted).toEqual([0, 0, 1, 1, 2]);
});

it("counts a process once however often it tries, and forgets finished work", async () => {
  const store = memory();
  const counts = createCrashCounts(store);
  for (let attempt = 0; attempt < 3; attempt++) await counts.begin("m1");
  expect(store.kept.get("m1")).toBe(1);
  expect(await counts.get("m1")).toBe(0);
  await counts.end("m1");
  expect(store.kept.size).toBe(0);
});
