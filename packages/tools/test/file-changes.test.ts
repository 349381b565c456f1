import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  createApplyPatchTool,
  createEditTool,
  createWriteTool,
  extractPageText,
  type Workspace,
} from "../src/index.ts";
import { type Caller, caller, openFiles, textOf } from "./harness.ts";

let dir: string;
let workspace: Workspace;
let agent: Caller;

beforeEach(async () => {
  ({ dir, workspace, agent } = await openFiles());
});

const put = (name: string, content: string | Uint8Array): void => writeFileSync(join(dir, name), content);
const get = (name: string): string => readFileSync(join(dir, name), "utf8");

describe("write", () => {
  test("creates folders and files, reports the size, and is idempotent", async () => {
    const args = { file_path: "src/deep/list_files.py", content: "#!/usr/bin/env python3\n# 遍历\n" };
    const expected = {
      content: [{ type: "text", text: "Wrote src/deep/list_files.py (32 bytes)" }],
      details: { bytesWritten: 32, path: "src/deep/list_files.py" },
    };
    expect(await agent.call("write", args)).toEqual(expected);
    expect(await agent.call("write", args)).toEqual(expected);
    expect(get("src/deep/list_files.py")).toBe(args.content);
    expect(readdirSync(join(dir, "src/deep"))).toEqual(["list_files.py"]);
  });

  test("a reader sees either the old or the new file", async () => {
    const long = (letter: string) => letter.repeat(2_000_000);
    put("f", long("a"));
    let done = false;
    const writing = (async () => {
      for (const letter of "bcdef") await agent.call("write", { file_path: "f", content: long(letter) });
      done = true;
    })();
    while (!done) {
      const text = get("f");
      expect(text.length).toBe(2_000_000);
      expect(text === long(text.charAt(0))).toBe(true);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
  });

  test("keeps the mode, and follows links inside the workspace", async () => {
    put("run.sh", "old");
    chmodSync(join(dir, "run.sh"), 0o750);
    symlinkSync("run.sh", join(dir, "alias"));
    expect(textOf(await agent.call("write", { file_path: "alias", content: "new" }))).toBe(
      "Wrote run.sh (3 bytes)",
    );
    expect(get("run.sh")).toBe("new");
    expect(statSync(join(dir, "run.sh")).mode & 0o777).toBe(0o750);
  });

  test("refuses folders and contents that are too large", async () => {
    mkdirSync(join(dir, "d"));
    expect(await agent.call("write", { file_path: "d", content: "" })).toMatchObject({ isError: true });
    expect(await agent.call("write", { file_path: "new/", content: "" })).toMatchObject({ isError: true });
    const small = caller([createWriteTool({ workspace, maxBytes: 10 })]);
    expect(textOf(await small.call("write", { file_path: "x", content: "x".repeat(11) }))).toContain(
      "11 bytes",
    );
    expect(existsSync(join(dir, "x"))).toBe(false);
  });
});

describe("edit", () => {
  const edit = (args: Record<string, unknown>) =>
    agent.call("edit", { file_path: "a.py", ...JSON.parse(JSON.stringify(args)) });

  test("replaces one occurrence and reports the lines", async () => {
    put("a.py", "one\ntwo\nthree\n");
    expect(await edit({ old_string: "two\n", new_string: "2\n2b\n" })).toEqual({
      content: [{ type: "text", text: "Edited 2 lines in a.py (from line 2)" }],
      details: { path: "a.py", linesChanged: 2, replacements: 1, firstLine: 2 },
    });
    expect(get("a.py")).toBe("one\n2\n2b\nthree\n");
  });

  test("makes many replacements, and finds similar text in a long file", async () => {
    const lines = Array.from({ length: 15_000 }, (_, at) => `the line of number ${at}, and some words\n`);
    put("a.py", lines.join(""));
    const edits = Array.from({ length: 100 }, (_, at) => ({
      old_string: `number ${at}, and`,
      new_string: `number ${at} and`,
    }));
    expect(textOf(await edit({ edits }))).toContain("Edited 100 lines");
    expect(get("a.py")).toBe(lines.map((line, at) => (at < 100 ? line.replace(",", "") : line)).join(""));
    expect(
      textOf(await edit({ old_string: "the  line of number 14999, and some words", new_string: "x" })),
    ).toContain("line 15,000 matches except for white space");
  });

  /** Counts the threads that are started until the test ends. */
  const threads = () => {
    const onWorker = vi.fn();
    process.on("worker", onWorker);
    onTestFinished(() => void process.off("worker", onWorker));
    return onWorker;
  };
  const long = Array.from({ length: 15_000 }, (_, at) => `the line of number ${at}, and some words\n`).join(
    "",
  );

  test("searches a long file in a thread for a text that an earlier edit removed", async () => {
    put("a.py", long);
    const started = threads();
    const edits = [
      { old_string: "number 14999, and", new_string: "another" },
      { old_string: "of number 14999, and some", new_string: "x" },
    ];
    expect(textOf(await edit({ edits }))).toContain("edit 2: the old text does not occur");
    expect(started).toHaveBeenCalledTimes(1);
  });

  test("does not wait for threads that parse pages", async () => {
    put("a.py", long);
    const stop = new AbortController();
    const bytes = Buffer.from(`<p>${"x<br>".repeat(14_000)}</p>`);
    const page = { url: "https://example.org/", contentType: "text/html", bytes };
    const pages = Array.from({ length: 20 }, () =>
      extractPageText(page, { parseMs: 600_000, signal: stop.signal }),
    );
    const lastPage = Promise.allSettled(pages).then((all) => all.at(-1)?.status);
    const edited = await edit({ old_string: "of number", new_string: "", replace_all: true });
    expect(textOf(edited)).toContain("15,000 replacements");
    stop.abort();
    expect(await lastPage).toBe("rejected");
  });

  test("reports an abort as such, not as a timeout", async () => {
    put("a.py", long);
    const args = { file_path: "a.py", old_string: "of number", new_string: "", replace_all: true };
    const stop = new AbortController();
    const started = threads();
    started.mockImplementation(() => stop.abort());
    expect(textOf(await agent.call("edit", args, stop.signal))).toContain("the call was stopped");
    expect(get("a.py")).toBe(long);
  });

  test("needs a unique match without `replace_all`", async () => {
    put("a.py", "x = 1\ny = 1\nx = 1\n");
    expect(textOf(await edit({ old_string: "x = 1", new_string: "x = 2" }))).toContain(
      "occurs 2 times (lines 1, 3)",
    );
    expect(get("a.py")).toBe("x = 1\ny = 1\nx = 1\n");
    expect(textOf(await edit({ old_string: "x = 1", new_string: "x = 2", replace_all: true }))).toBe(
      "Edited 2 lines in a.py (from line 1, 2 replacements)",
    );
    expect(get("a.py")).toBe("x = 2\ny = 1\nx = 2\n");
  });

  test("applies several edits in order, or none of them", async () => {
    put("a.py", "a\nb\n");
    const edits = [
      { old_string: "a", new_string: "c" },
      { old_string: "c", new_string: "d" },
    ];
    expect(textOf(await edit({ edits }))).toContain("2 replacements");
    expect(get("a.py")).toBe("d\nb\n");
    const failing = [
      { old_string: "d", new_string: "e" },
      { old_string: "missing-text", new_string: "" },
    ];
    expect(textOf(await edit({ edits: failing }))).toContain("edit 2: the old text does not occur");
    expect(get("a.py")).toBe("d\nb\n");
  });

  test("shows the most similar text", async () => {
    put("a.py", "def main():\n\tfor root in walk():\n\t\tprint(root)\n");
    expect(
      textOf(await edit({ old_string: "    for root in walk():\n        print(root)", new_string: "" })),
    ).toContain(
      "the block of lines 2 to 3 matches except for white space:\n\tfor root in walk():\n\t\tprint(root)",
    );
    expect(textOf(await edit({ old_string: "def mian():", new_string: "" }))).toContain(
      "line 1 is closest:\ndef main():",
    );
    expect(textOf(await edit({ old_string: "nothing like it at all", new_string: "" }))).toContain(
      "copy the text exactly",
    );
  });

  test("takes dollar signs literally, and keeps line breaks", async () => {
    put("a.py", "price\r\nnext\r\n");
    await edit({ old_string: "price\nnext", new_string: "$& $1 $$\nafter" });
    expect(get("a.py")).toBe("$& $1 $$\r\nafter\r\n");
  });

  test("reports missing and wrong arguments", async () => {
    put("a.py", "x");
    put("b.bin", Buffer.from([0, 1]));
    expect(textOf(await edit({ old_string: "x" }))).toContain("both `old_string` and `new_string`");
    expect(textOf(await edit({ old_string: "x", new_string: "x" }))).toContain("are the same");
    expect(
      textOf(await edit({ old_string: "x", new_string: "y", edits: [{ old_string: "x", new_string: "y" }] })),
    ).toContain("not both");
    expect(
      textOf(await agent.call("edit", { file_path: "b.bin", old_string: "x", new_string: "y" })),
    ).toContain("not UTF-8");
    expect(await edit({})).toMatchObject({ isError: true });
  });
});

test("concurrent changes of one file do not undo each other", async () => {
  const make = [createEditTool, createApplyPatchTool, createWriteTool];
  const tools = make.map((each) => each({ workspace }));
  const names = Array.from({ length: 10 }, (_, n) => `name${n}.`);
  put("f", names.join("\n"));
  const runs = names.map((name, n) => {
    const [old_string, new_string] = [name, `new${n}.`];
    return n % 2 === 0
      ? caller(tools).call("edit", { file_path: "f", old_string, new_string })
      : caller(tools).call("apply_patch", {
          patch: `*** Begin Patch\n*** Update File: f\n-${old_string}\n+${new_string}\n*** End Patch`,
        });
  });
  for (const result of await Promise.all(runs)) expect(result.isError).toBeUndefined();
  expect(get("f")).toBe(names.map((_, n) => `new${n}.`).join("\n"));
  const edit = caller(tools).call("edit", { file_path: "f", old_string: "new0.", new_string: "last" });
  await caller(tools).call("write", { file_path: "f", content: "all new" });
  await edit;
  expect(get("f")).toBe("all new");
});
