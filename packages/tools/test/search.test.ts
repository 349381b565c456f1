import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  createFindTool,
  createGrepTool,
  createMemoryLabelStore,
  createSearch,
  type FileLabels,
  openFileLabels,
  openWorkspace,
  type RunFacts,
  toFolderName,
} from "../src/index.ts";
import type { Search } from "../src/search/search.ts";
import { caller, textOf } from "./harness.ts";

const PATH = process.env["PATH"] ?? "";
const hasRipgrep = PATH.split(delimiter).some((folder) => existsSync(join(folder, "rg")));
if (!hasRipgrep)
  console.log("skipped: ripgrep (`rg`) is not on the path, so only the search without it is tested");

const ENGINES = { ...(hasRipgrep ? { ripgrep: PATH } : {}), "its own": "" };
const INBOX = "inbox/0123456789abcdef/page.txt";

async function searched(
  files: Readonly<Record<string, string>>,
  searchPath: string,
  facts: Partial<RunFacts> = {},
  limits: { readonly searchMs?: number } = {},
) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-search-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  const labels: FileLabels = await openFileLabels(createMemoryLabelStore());
  const workspace = await openWorkspace({
    dir,
    labels,
    forbidden: [join(dir, "closed"), join(dir, "closed/in")],
  });
  const searching = { workspace, search: createSearch(searchPath), ...limits };
  const run = caller([createFindTool(searching), createGrepTool(searching)], {
    facts: { role: "owner", ...facts },
  });
  return {
    dir,
    labels,
    state: run.state,
    call: async (name: string, args: object) => textOf(await run.call(name, { ...args })),
  };
}

describe.each(Object.entries(ENGINES))("with %s search", (_name, path) => {
  const FILES = {
    "src/a.ts": "one\nconst foo = 1;\nthree\nfour\nfoo again\n",
    "src/deep/b.js": "nothing here\n",
    "README.md": "Foo is a word.\n",
    "node_modules/x/index.js": "foo\n",
    ".git/config": "foo\n",
    "closed/secret.txt": "foo\n",
  };

  test("finds files by name and by path", async () => {
    const { call } = await searched(FILES, path);
    expect(await call("find", { glob: "*.{ts,js}" })).toBe("src/a.ts\nsrc/deep/b.js");
    expect(await call("find", { glob: "src/*.ts" })).toBe("src/a.ts");
    expect(await call("find", { glob: "**/*.js", path: "src" })).toBe("src/deep/b.js");
    expect(await call("find", { glob: "*.py" })).toBe("(no file matches)");
    expect(await call("find", { glob: "*", path: "../" })).toContain("outside");
  });

  test("finds lines by expression, in some files or one file, ignoring case, and with context", async () => {
    const { call } = await searched(FILES, path);
    expect(await call("grep", { pattern: "foo+" })).toBe("src/a.ts:2: const foo = 1;\nsrc/a.ts:5: foo again");
    expect(await call("grep", { pattern: "foo", ignore_case: true, glob: "*.md" })).toBe(
      "README.md:1: Foo is a word.",
    );
    expect(await call("grep", { pattern: "nothing", path: "src/deep/b.js" })).toBe(
      "src/deep/b.js:1: nothing here",
    );
    expect(await call("grep", { pattern: "foo", path: "src", context: 1 })).toBe(
      "src/a.ts:1- one\nsrc/a.ts:2: const foo = 1;\nsrc/a.ts:3- three\nsrc/a.ts:4- four\nsrc/a.ts:5: foo again",
    );
    expect(await call("grep", { pattern: "absent" })).toBe("(nothing found)");
    expect(await call("grep", { pattern: "foo(" })).toContain("Invalid search");
  });

  test("shows nothing behind links, in closed places, or from other conversations", async () => {
    const { dir, call, state } = await searched({ ...FILES, [INBOX]: "foo of others\n" }, path);
    const outside = mkdtempSync(join(tmpdir(), "signalbox-outside-"));
    onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
    writeFileSync(join(outside, "canary.txt"), "foo canary\n");
    symlinkSync(outside, join(dir, "src", "out"));
    symlinkSync(join(outside, "canary.txt"), join(dir, "link.txt"));
    const all = `${await call("grep", { pattern: "foo" })}${await call("find", { glob: "*" })}`;
    expect(all).not.toMatch(/canary|secret|inbox|link\.txt/);
    expect(await call("grep", { pattern: "foo", path: "closed" })).toMatch(/closed|no folder/i);
    expect(state.facts.taint).toEqual([]);
  });

  test("an untainted run does not find what others wrote, unless it searches there", async () => {
    const { dir, labels, call, state } = await searched(
      { "mine.txt": "foo\n", "page.txt": "foo: do this\n" },
      path,
    );
    await labels.add([{ path: join(dir, "page.txt"), kind: "entry", source: "web" }]);
    expect(await call("grep", { pattern: "foo" })).toMatch(
      /^mine\.txt:1: foo\n\[omitted: 1 in files that others/,
    );
    expect(await call("find", { glob: "*" })).toMatch(/^mine\.txt\n\[omitted: 1 in/);
    expect(state.facts.taint).toEqual([]);
    expect(await call("grep", { pattern: "foo", path: "page.txt" })).toBe("page.txt:1: foo: do this");
    expect(state.facts.taint).toMatchObject([{ source: "web" }]);
    expect(await call("grep", { pattern: "foo" })).toContain("page.txt:1");
  });

  test("finds files in many deep folders, and closes them", async () => {
    const folders = Array.from({ length: 150 }, (_, n) => `d${n % 50}/e${n}/f`);
    const files = Object.fromEntries(folders.map((folder) => [`${folder}/a.txt`, "foo\n"]));
    const { call } = await searched(files, path);
    const opened = () => (process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0);
    const before = opened();
    for (const found of [await call("grep", { pattern: "foo" }), await call("find", { glob: "a.txt" })])
      expect(found.match(/a\.txt/g)).toHaveLength(150);
    await expect.poll(opened).toBe(before);
  });

  test("a line with many matches and a binary file hide no later matches", async () => {
    const files = {
      "a.txt": `${"o".repeat(300)}\nsecond o\n`,
      "b.bin": `foo\n${"x".repeat(200_000)}\0`,
      "c.txt": "foo\n",
    };
    const { call } = await searched(files, path);
    expect(await call("grep", { pattern: "o", path: "a.txt" })).toMatch(/^a\.txt:1: o+\na\.txt:2: second o$/);
    expect(await call("grep", { pattern: "foo" })).toBe("c.txt:1: foo");
  });

  test("guests do not find the agent's memories", async () => {
    const { call } = await searched(
      { "MEMORY.md": "foo\n", "memory/2026.md": "foo\n", "a.md": "foo\n" },
      path,
      {
        role: "guest",
      },
    );
    expect(await call("grep", { pattern: "foo" })).toBe("a.md:1: foo");
    expect(await call("find", { glob: "*.md" })).toBe("a.md");
  });

  test("a person finds their own notes, and nothing next to them", async () => {
    const own = `people/${toFolderName("feishu:ou_1")}/mine.md`;
    const files = { [own]: "foo\n", "people/else/a.md": "foo\n", "closed/in/it.md": "foo\n" };
    const { call } = await searched(files, path, { role: "member", speaker: "feishu:ou_1" });
    expect(await call("grep", { pattern: "foo" })).toBe(`${own}:1: foo`);
    expect(await call("find", { glob: "*.md", path: "people" })).toBe(own);
  });

  test("limits the number and the length of lines", async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}.txt`, "foo\n".repeat(30)]));
    const { call } = await searched({ ...many, "long.js": `foo${"x".repeat(100_000)}\n` }, path);
    const text = await call("grep", { pattern: "foo", glob: "f*.txt" });
    expect(text.split("\n")).toHaveLength(201);
    expect(text).toMatch(/\[there is more; narrow the search\]$/);
    const oneFile = await searched({ "f.txt": "foo\n".repeat(300) }, path);
    expect(await oneFile.call("grep", { pattern: "foo" })).toMatch(/\[there is more; narrow the search\]$/);
    expect((await call("grep", { pattern: "foo", glob: "long.js" })).length).toBeLessThan(450);
  });
});

test("ignores ripgrep's messages between the matches", async () => {
  const bin = mkdtempSync(join(tmpdir(), "signalbox-rg-"));
  onTestFinished(() => rmSync(bin, { recursive: true, force: true }));
  const remark = 'WARNING: stopped searching binary file after match (found "\\\\0" byte around offset 9)';
  const said = `./b.bin\\0001:\\n./b.bin: ${remark}\\n./c.txt\\0001:\\n`;
  writeFileSync(join(bin, "rg"), `#!/bin/sh\nprintf '${said}'\n`, { mode: 0o755 });
  const { call } = await searched({ "c.txt": "foo\n" }, bin);
  expect(await call("grep", { pattern: "foo" })).toBe("c.txt:1: foo");
});

test.skipIf(!hasRipgrep).each([
  ["grep", { pattern: "foo\\nbar" }, "is not allowed in a regex"],
  ["grep", { pattern: "(\\w{1,500}){1,500}" }, "exceeds size limit"],
  ["find", { glob: "[" }, "unclosed character class"],
])("reports a pattern that ripgrep rejects: %s %j", async (tool, args, why) => {
  const { call } = await searched({ "a.txt": "foo\nbar\n" }, PATH);
  const said = await call(tool, args);
  expect(said).toContain("Invalid search");
  expect(said).toContain(why);
});

test("does not open candidates above the folder, elsewhere or behind a link", async () => {
  const outside = mkdtempSync(join(tmpdir(), "signalbox-outside-"));
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  writeFileSync(join(outside, "canary.txt"), "canary\n");
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-search-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "src"));
  writeFileSync(join(dir, "canary.txt"), "canary\n");
  symlinkSync(outside, join(dir, "src", "out"));
  symlinkSync(join(dir, "canary.txt"), join(dir, "src", "link.txt"));
  const paths = [
    "../canary.txt",
    join(outside, "canary.txt"),
    "out/canary.txt",
    "link.txt",
    "out/../../canary.txt",
  ];
  for (const viaDescriptors of [true, false]) {
    const workspace = await openWorkspace({ dir, viaDescriptors });
    const search: Search = async function* () {
      for (const path of paths) yield { path, line: 1 };
    };
    const run = caller([createGrepTool({ workspace, search }), createFindTool({ workspace, search })]);
    expect(textOf(await run.call("grep", { pattern: "canary", path: "src" }))).toBe("(nothing found)");
    expect(textOf(await run.call("find", { glob: "*", path: "src" }))).toBe("(no file matches)");
  }
});

/** Creates files, and a search that reports when each file is read and closed. */
async function watched(
  files: Readonly<Record<string, string>>,
  search: Search,
  watch: { readonly reads: (path: string) => unknown; readonly closed: (path: string) => unknown },
) {
  const { dir, labels } = await searched(files, "");
  const workspace = await openWorkspace({ dir, labels });
  const openTree: typeof workspace.openTree = async (folder) => {
    const tree = await workspace.openTree(folder);
    const openFile = tree.openFile.bind(tree);
    tree.openFile = async (path) => {
      const file = await openFile(path);
      const read = async (...args: readonly unknown[]) => {
        await watch.reads(path);
        return Reflect.apply(file.handle.read, file.handle, args);
      };
      const handle = Object.create(file.handle, { read: { value: read } });
      const close = async () => {
        await file.close();
        await watch.closed(path);
      };
      return { ...file, handle, close };
    };
    return tree;
  };
  const tool = createGrepTool({
    workspace: { ...workspace, restrict: () => ({ ...workspace, openTree }) },
    search,
  });
  const run = caller([tool], { facts: { role: "owner" } });
  const grep = async () => textOf(await run.call("grep", { pattern: "foo" }));
  return { dir, labels, state: run.state, grep };
}

test("taints the run by the label of a file at the time of reading", async () => {
  const read = Promise.withResolvers<void>();
  const search: Search = async function* () {
    yield* [
      { path: "a.txt", line: 1 },
      { path: "b.txt", line: 1 },
    ];
    await read.promise;
  };
  const { dir, labels, state, grep } = await watched({ "a.txt": "foo\n", "b.txt": "foo\n" }, search, {
    async reads(path) {
      if (path !== "a.txt") return;
      await labels.add([{ path: join(dir, path), kind: "entry", source: "web" }]);
      writeFileSync(join(dir, path), "foo of others\n");
    },
    async closed(path) {
      if (path !== "a.txt") return;
      await labels.remove([join(dir, path)]);
      read.resolve();
    },
  });
  expect(await grep()).toContain("a.txt:1: foo");
  expect(state.facts.taint).toEqual([{ source: "web", detail: "a.txt" }]);
});

test("opens large files one at a time", async () => {
  const large = "foo\n".repeat(300_000);
  const names = Array.from({ length: 8 }, (_, n) => `${n}.txt`);
  const search: Search = async function* () {
    for (const path of names) yield { path, line: 1 };
  };
  const held = new Set<string>();
  let most = 0;
  const { grep } = await watched(Object.fromEntries(names.map((name) => [name, large])), search, {
    reads(path) {
      held.add(path);
      most = Math.max(most, held.size);
    },
    closed: (path) => held.delete(path),
  });
  expect(await grep()).toContain("7.txt:1: foo");
  expect(most).toBe(1);
});

test("handles names with line breaks and expressions that would run forever", async () => {
  const files = { "a\nb.txt": `${"a".repeat(40)}!\n` };
  const { call } = await searched(files, "");
  expect(await call("find", { glob: "*.txt" })).toBe("a\ufffdb.txt");
  const hurried = await searched(files, "", {}, { searchMs: 1_000 });
  expect(await hurried.call("grep", { pattern: "^(a+)+$" })).toContain("stopped after 1 s");
});
