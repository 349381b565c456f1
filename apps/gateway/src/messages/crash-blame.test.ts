import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type RunId } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { createCrashBlame } from "./crash-blame.ts";

async function open() {
  const dir = mkdtempSync(join(tmpdir(), "crash-blame-"));
  const store = await openStore({ path: ":memory:" });
  onTestFinished(async () => {
    await store.close();
    rmSync(dir, { recursive: true });
  });
  const start = (epoch: number) =>
    createCrashBlame({
      kv: store.kv,
      lease: { name: "home", epoch },
      noteFile: join(dir, "last-crash.json"),
      now: () => 1_000,
    });
  return { start };
}

const run = (id: string, epoch: number, startedAt = 500, name = "home") => ({
  id: id as RunId,
  lease: { name, epoch },
  startedAt,
});

it("blames a run that was the only one of its process", async () => {
  const { start } = await open();
  const blame = start(2);
  blame.compare([run("a", 1)]);
  expect(await blame.isBlamed(run("a", 1))).toBe(true);
});

it("blames no run if several were in progress, but each after ten such ends", async () => {
  const { start } = await open();
  for (let epoch = 2; epoch < 12; epoch += 1) {
    const blame = start(epoch);
    blame.compare([run("a", epoch - 1), run("b", epoch - 1)]);
    expect(await blame.isBlamed(run("a", epoch - 1))).toBe(false);
  }
  const blame = start(12);
  blame.compare([run("a", 11), run("b", 11)]);
  expect(await blame.isBlamed(run("a", 11))).toBe(true);
  expect(await blame.isBlamed(run("b", 11))).toBe(false);
});

it("blames every run that was in progress when the process ended because of an error", async () => {
  const { start } = await open();
  start(1).noteCrash();
  const blame = start(2);
  const runs = [run("a", 1), run("b", 1), run("later", 1, 2_000)];
  blame.compare(runs);
  expect(await Promise.all(runs.map((one) => blame.isBlamed(one)))).toEqual([true, true, false]);
  const next = start(3);
  next.compare([run("a", 2), run("b", 2)]);
  expect(await next.isBlamed(run("a", 2))).toBe(false);
});

it("does not blame a run for the end of a process that had not resumed it", async () => {
  const { start } = await open();
  const blame = start(3);
  blame.compare([run("resumed", 2), run("waiting", 1)]);
  expect(await blame.isBlamed(run("resumed", 2))).toBe(true);
  expect(await blame.isBlamed(run("waiting", 1))).toBe(false);
});

it("counts the start of a run that an orderly stop released", async () => {
  const { start } = await open();
  expect(await start(2).isBlamed(run("a", 0, 500, ""))).toBe(true);
});
