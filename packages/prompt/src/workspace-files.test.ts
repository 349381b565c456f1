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

test("reads the known files in their order and leaves out what is not there", async () => {
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

test("a folder that does not exist has no files", async () => {
  expect(await loadWorkspaceFiles(join(base, "nowhere"))).toEqual({ files: [], problems: [] });
});

test("links, folders and odd names are reported and not read", async () => {
  await writeFile(join(base, "secret"), "canary");
  await symlink(join(base, "secret"), join(dir, "AGENTS.md"));
  await mkdir(join(dir, "SOUL.md"));
  const loaded = await loadWorkspaceFiles(dir, { names: ["AGENTS.md", "SOUL.md", "../secret", "a/b"] });
  expect(loaded.files).toEqual([]);
  expect(loaded.problems.map((problem) => [problem.name, problem.code])).toEqual([
    ["AGENTS.md", "link"],
    ["SOUL.md", "not-a-file"],
    ["../secret", "bad-name"],
    ["a/b", "bad-name"],
  ]);
});

test("of a large file only the start is read, whole characters", async () => {
  await writeFile(join(dir, "AGENTS.md"), "记".repeat(100));
  expect(await loadWorkspaceFiles(dir, { maxBytes: 100 })).toEqual({
    files: [{ name: "AGENTS.md", text: "记".repeat(33), totalBytes: 300 }],
    problems: [],
  });
});

test("files that were just read are not read again, and a moment later they are", async () => {
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
  // A clock that was set back.
  now = -5_000;
  expect(await read(dir)).toEqual([{ name: "AGENTS.md", text: "three" }]);
});
