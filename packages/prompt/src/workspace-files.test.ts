import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createWorkspaceFileReader, loadWorkspaceFiles } from "./index.ts";

let base: string;
let dir: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "prompt-files-"));
  dir = join(base, "workspace");
  await mkdir(dir);
});
afterEach(() => rm(base, { recursive: true, force: true }));

test("reads the known files in order and skips missing ones", async () => {
  await writeFile(join(dir, "MEMORY.md"), "记忆");
  await writeFile(join(dir, "AGENTS.md"), "\ufeffrules");
  await writeFile(join(dir, "notes.md"), "not for the prompt");
  expect(await loadWorkspaceFiles(dir)).toEqual({
    files: [
      { name: "AGENTS.md", text: "rules" },
      { name: "MEMORY.md", text: "记忆" },
    ],
    problems: [],
  });
});

test("returns no files for a missing folder", async () => {
  expect(await loadWorkspaceFiles(join(base, "nowhere"))).toEqual({ files: [], problems: [] });
});

test("reports links, folders and invalid names without reading them", async () => {
  await writeFile(join(base, "secret"), "canary");
  await symlink(join(base, "secret"), join(dir, "AGENTS.md"));
  await mkdir(join(dir, "SOUL.md"));
  const loaded = await loadWorkspaceFiles(dir, { names: ["AGENTS.md", "SOUL.md", "../secret", "a/b"] });
  expect(loaded.files).toEqual([]);
  expect(loaded.problems.map((problem) => [problem.name, problem.code])).toEqual([
    ["AGENTS.md", "link"],
    ["SOUL.md", "not_a_file"],
    ["../secret", "bad_name"],
    ["a/b", "bad_name"],
  ]);
});

test("reads only the start of a large file, in whole characters", async () => {
  await writeFile(join(dir, "AGENTS.md"), "记".repeat(100));
  expect(await loadWorkspaceFiles(dir, { maxBytes: 100 })).toEqual({
    files: [{ name: "AGENTS.md", text: "记".repeat(33), totalBytes: 300 }],
    problems: [],
  });
});

test("reads a folder at most once a second", async () => {
  await writeFile(join(dir, "AGENTS.md"), "one");
  await symlink("AGENTS.md", join(dir, "SOUL.md"));
  let now = 0;
  const problems: string[] = [];
  const read = createWorkspaceFileReader({ now: () => now, onProblem: (_, { name }) => problems.push(name) });
  expect(await read(dir)).toEqual([{ name: "AGENTS.md", text: "one" }]);
  await writeFile(join(dir, "AGENTS.md"), "two");
  now = 999;
  expect(await read(dir)).toEqual([{ name: "AGENTS.md", text: "one" }]);
  now = 1_000;
  expect(await read(dir)).toEqual([{ name: "AGENTS.md", text: "two" }]);
  expect(problems).toEqual(["SOUL.md", "SOUL.md"]);
  await writeFile(join(dir, "AGENTS.md"), "three");
  // The clock was set back.
  now = -5_000;
  expect(await read(dir)).toEqual([{ name: "AGENTS.md", text: "three" }]);
});
