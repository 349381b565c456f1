// The target of a path is replaced after the first file system call of a tool, after the second, and so on. At no
// moment may something outside be read or changed.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import fsPromises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonValue } from "@signalbox/agent-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  createEditTool,
  createGrepTool,
  createLsTool,
  createReadTool,
  createWriteTool,
  openWorkspace,
} from "../src/index.ts";
import type { Search } from "../src/search/search.ts";
import { caller, textOf } from "./harness.ts";

const moment = { calls: 0, at: 0, swap: () => {} };
const originals = { ...fsPromises };

function counted(call: (...args: never[]) => unknown) {
  return async (...args: never[]): Promise<unknown> => {
    try {
      return await Reflect.apply(call, fsPromises, args);
    } finally {
      moment.calls += 1;
      if (moment.calls === moment.at) moment.swap();
    }
  };
}

/** All modules call these replacements from now on. */
function takePlace(functions: object): void {
  Object.assign(fsPromises, functions);
  syncBuiltinESMExports();
}

beforeAll(() => {
  const functions = Object.entries(originals).flatMap(([name, value]) =>
    typeof value === "function" ? [[name, counted(value)] as const] : [],
  );
  takePlace(Object.fromEntries(functions));
});
afterAll(() => takePlace(originals));

const SECRET = "canary that nobody may read";
let base: string;
let workspaceDir: string;
let outside: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "swaps-")));
  outside = join(base, "outside");
  workspaceDir = join(base, "workspace");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function setUp(): void {
  moment.at = 0;
  rmSync(base, { recursive: true, force: true });
  for (const dir of ["outside/deep", "workspace/flip/deep"]) mkdirSync(join(base, dir), { recursive: true });
  for (const file of ["secret.txt", "deep/secret.txt"]) {
    writeFileSync(join(outside, file), SECRET);
    writeFileSync(join(workspaceDir, "flip", file), "harmless canary");
  }
  for (const dir of ["", "deep"]) writeFileSync(join(outside, dir, "outside-only"), "");
}

function replace(name: string, target: string): void {
  renameSync(join(workspaceDir, name), join(workspaceDir, "aside"));
  symlinkSync(target, join(workspaceDir, name));
}

/** A search that found the files before the replacement. */
const foundBefore: Search = async function* ({ file }) {
  const paths = file === undefined ? ["flip/secret.txt", "flip/deep/secret.txt"] : [file];
  for (const path of paths) yield { path, line: 1 };
};

const SWAPS: readonly [string, () => void][] = [
  ["the parent", () => replace("flip", outside)],
  ["the grandchild's parent", () => replace("flip/deep", join(outside, "deep"))],
  ["the file", () => replace("flip/secret.txt", join(outside, "secret.txt"))],
];
const CALLS: readonly [string, JsonValue][] = [
  ["read", { file_path: "flip/secret.txt" }],
  ["read", { file_path: "flip/deep/secret.txt" }],
  ["ls", { path: "flip" }],
  ["ls", { path: "flip/deep" }],
  ["write", { file_path: "flip/planted", content: "spoiled" }],
  ["write", { file_path: "flip/secret.txt", content: "spoiled" }],
  ["write", { file_path: "flip/deep/new/folders/planted", content: "spoiled" }],
  ["edit", { file_path: "flip/secret.txt", old_string: "canary", new_string: "spoiled" }],
  ["edit", { file_path: "flip/deep/secret.txt", old_string: "canary", new_string: "spoiled" }],
  ["grep", { pattern: "canary" }],
  ["grep", { pattern: "canary", path: "flip/secret.txt" }],
];

describe.skipIf(process.platform !== "linux").each(SWAPS)("%s replaced by a link out", (_name, swap) => {
  test.each(CALLS)("%s %j", async (tool, args) => {
    let swapped = 0;
    for (let at = 1; ; at++) {
      setUp();
      const workspace = await openWorkspace({ dir: workspaceDir });
      const agent = caller(
        [createReadTool, createWriteTool, createEditTool, createLsTool, createGrepTool].map((make) =>
          make({ workspace, search: foundBefore }),
        ),
      );
      let fired = false;
      moment.swap = () => {
        fired = true;
        swap();
      };
      moment.calls = 0;
      moment.at = at;
      const result = await agent.call(tool, args);
      moment.at = 0;
      expect(textOf(result), `after call ${at}`).not.toContain(SECRET);
      if (tool === "ls") expect(textOf(result)).not.toContain("outside-only");
      for (const file of ["secret.txt", "deep/secret.txt"]) {
        expect(readFileSync(join(outside, file), "utf8"), `after call ${at}`).toBe(SECRET);
      }
      for (const file of ["planted", "deep/new", "new"]) {
        expect(existsSync(join(outside, file)), `after call ${at}`).toBe(false);
      }
      if (!fired) break;
      swapped += 1;
    }
    expect(swapped).toBeGreaterThan(3);
  });
});

describe("a folder replaced by a link to the workspace", () => {
  test.each(["write", "edit"])("%s does not reach identity files in a tainted run", async (tool) => {
    for (let at = 1, fired = true; fired; at++) {
      setUp();
      writeFileSync(join(workspaceDir, "SOUL.md"), "mine");
      writeFileSync(join(workspaceDir, "flip/SOUL.md"), "mine");
      const workspace = await openWorkspace({ dir: workspaceDir });
      const tools = [createWriteTool({ workspace }), createEditTool({ workspace })];
      const agent = caller(tools, { facts: { taint: [{ source: "web" }] } });
      fired = false;
      moment.swap = () => {
        fired = true;
        replace("flip", ".");
      };
      moment.calls = 0;
      moment.at = at;
      const change: Record<string, string> =
        tool === "write" ? { content: "spoiled" } : { old_string: "mine", new_string: "spoiled" };
      await agent.call(tool, { file_path: "flip/SOUL.md", ...change });
      moment.at = 0;
      expect(readFileSync(join(workspaceDir, "SOUL.md"), "utf8"), `after call ${at}`).toBe("mine");
    }
  });
});
