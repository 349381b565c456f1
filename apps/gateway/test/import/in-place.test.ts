import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { openSkillPins } from "../../src/configure/skill-pins.ts";
import { hashesOf, run, stateOf, whyOf } from "./import-run.ts";
import { createNanobotSource } from "./nanobot-source.ts";
import { createOpenclawSource } from "./openclaw-source.ts";

it("uses workspaces where they are, writes nothing there, and lets their skills wait for an approval", async () => {
  const dir = createOpenclawSource();
  const before = hashesOf(dir);
  const { report, home, store } = await run(dir, { inPlace: true, trustMemory: true });
  expect(hashesOf(dir)).toEqual(before);
  const { agents } = parse(readFileSync(join(home, "signalbox.yaml"), "utf8"));
  expect(agents.list).toMatchObject([
    { id: "main", workspaceDir: join(dir, "workspace") },
    { id: "ops", workspaceDir: join(dir, "workspace-Ops") },
  ]);
  expect(existsSync(join(home, "workspaces"))).toBe(false);
  expect(whyOf(report, "main/notes/a.txt")).toContain("It stays in");
  expect(stateOf(report, "main/MEMORY.md")).toBe("unsupported");
  const pins = openSkillPins(store.kv, { dir: home });
  expect(await pins.get(join(dir, "workspace/skills/own"))).toMatchObject({
    pin: { digest: "" },
    by: "nobody",
  });
  const again = await run(dir, { inPlace: true, trustMemory: true }, { home });
  expect(again.report.items.filter(({ state }) => state === "imported" || state === "changed")).toEqual([]);
});

it("is refused if notes that count as untrusted could not be marked", async () => {
  await expect(run(createOpenclawSource(), { inPlace: true })).rejects.toThrow(/--trust-memory/);
});

it("uses the workspace of nanobot where it is", async () => {
  const dir = createNanobotSource();
  const before = hashesOf(dir);
  const { home } = await run(dir, { system: "nanobot", inPlace: true, trustMemory: true });
  const { agents } = parse(readFileSync(join(home, "signalbox.yaml"), "utf8"));
  expect(agents.list).toMatchObject([{ id: "main", workspaceDir: join(dir, "workspace") }]);
  expect(hashesOf(dir)).toEqual(before);
});

it("is refused for a backup, whose folders are temporary", async () => {
  const file = join(createOpenclawSource(), "backup.tar.gz");
  writeFileSync(file, "");
  await expect(run(file, { inPlace: true })).rejects.toThrow("--in-place needs a folder");
});
