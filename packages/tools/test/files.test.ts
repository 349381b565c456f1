import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import {
  createLsTool,
  createReadTool,
  createWriteTool,
  openWorkspace,
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
const read = (file_path: string, extra: { offset?: number; limit?: number } = {}) =>
  agent.call("read", { file_path, ...extra });

/** Creates a segment of a JPEG. */
function segment(marker: number, bytes: number): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(bytes, 2);
  return Buffer.concat([head, Buffer.alloc(bytes - 2)]);
}

describe("ls", () => {
  test("lists one entry per line, folders with a slash, and returns the entries as data", async () => {
    put("README.md", "");
    put("requirements.txt", "");
    mkdirSync(join(dir, "scripts"));
    mkdirSync(join(dir, "tests"));
    expect(await agent.call("ls", { path: "." })).toEqual({
      content: [{ type: "text", text: "README.md\nrequirements.txt\nscripts/\ntests/\n" }],
      details: {
        entries: [
          { name: "README.md", type: "file" },
          { name: "requirements.txt", type: "file" },
          { name: "scripts", type: "folder" },
          { name: "tests", type: "folder" },
        ],
      },
    });
  });

  test("reports empty folders, missing folders and files", async () => {
    mkdirSync(join(dir, "empty"));
    put("file", "");
    expect(textOf(await agent.call("ls", { path: "empty" }))).toBe("(empty is empty)\n");
    expect(await agent.call("ls", { path: "none" })).toMatchObject({
      isError: true,
      details: { code: "not_found" },
    });
    expect(await agent.call("ls", { path: "file" })).toMatchObject({
      isError: true,
      details: { code: "not_a_folder" },
    });
    expect(await agent.call("ls", { path: "file/x" })).toMatchObject({
      isError: true,
      details: { code: "not_a_folder" },
    });
  });

  test("stops at its limit, and keeps each name on one line", async () => {
    put("a\nb", "");
    put("c", "");
    put("d", "");
    const short = caller([createLsTool({ workspace, maxEntries: 2 })]);
    expect(textOf(await short.call("ls", { path: "." }))).toBe("a�b\nc\n[1 more entries not shown]\n");
  });
});

describe("read", () => {
  test("returns a text unchanged", async () => {
    const skill =
      "# create-python-script\n\n当用户请求创建 Python 脚本时使用本 Skill。\n\n## 步骤\n1. 用 `ls` 查看";
    mkdirSync(join(dir, "skills/create-python-script"), { recursive: true });
    put("skills/create-python-script/SKILL.md", skill);
    expect(await read("./skills/create-python-script/SKILL.md")).toEqual({
      content: [{ type: "text", text: skill }],
      details: {},
    });
  });

  test("returns the requested lines and the next offset", async () => {
    put("n.txt", Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join(""));
    const part = await read("n.txt", { offset: 3, limit: 2 });
    expect(textOf(part)).toBe("line 3\nline 4\n[lines 3 to 4 of a file of 71 bytes; continue with offset=5]");
    expect(part.details).toEqual({ from: 3, to: 4, more: true });
    expect(textOf(await read("n.txt", { offset: 9 }))).toBe("line 9\nline 10\n");
    expect(await read("n.txt", { offset: 11 })).toMatchObject({ isError: true, details: { totalLines: 10 } });
  });

  test.each([
    ["one", 1],
    ["one\ntwo", 2],
    [`one\n${"x".repeat(600_000)}`, 2],
    ["one\ntwo\n", 2],
  ])("counts the last line with or without a line break", async (text, totalLines) => {
    put("n.txt", text);
    const result = await read("n.txt", { offset: 7 });
    expect(result).toMatchObject({ isError: true, details: { totalLines } });
    expect(textOf(result)).toBe(`n.txt ends at line ${totalLines}; there is no line 7.`);
  });

  test("the parts of a huge file add up to the whole file", async () => {
    const whole = Array.from({ length: 9_000 }, (_, i) => `${i} 行 ${"x".repeat(i % 90)} 😀\n`).join("");
    put("big.txt", whole);
    let joined = "";
    let offset = 1;
    for (let parts = 0; parts < 100; parts++) {
      const result = await read("big.txt", { offset });
      const text = textOf(result);
      const note = /\[lines [\d,]+ to [\d,]+ of a file of [\d,]+ bytes; continue with offset=(\d+)\]$/.exec(
        text,
      );
      joined += note === null ? text : text.slice(0, note.index);
      expect(text.length).toBeLessThan(15_200);
      if (note === null) break;
      offset = Number(note[1]);
    }
    expect(joined).toBe(whole);
  });

  test.each([16_000, 32_000, 64_000])("a file fills a result of %i characters", async (chars) => {
    const text = `${"x".repeat(99)}\n`.repeat(chars / 100 - 20);
    put("fits.txt", text);
    const reader = caller([createReadTool({ workspace })], { resultChars: chars });
    expect(textOf(await reader.call("read", { file_path: "fits.txt" }))).toBe(text);
  });

  test.each(["utf8", "utf16le"] as const)(
    "returns the start and the end of a file that does not fit (%s)",
    async (encoding) => {
      const lines = Array.from({ length: 30_000 }, (_, i) => `行 ${i} 😀\n`);
      put(
        "long.log",
        Buffer.from(`${encoding === "utf8" ? "" : "\ufeff"}${lines.join("")}the end\n`, encoding),
      );
      const text = textOf(await read("long.log"));
      expect(text.length).toBeLessThan(16_000);
      expect(text.isWellFormed()).toBe(true);
      const note =
        /\[(?:decoded from UTF-16LE; )?lines 1 to ([\d,]+) of .*offset=(\d+); the end of the file follows\]\n/;
      const [whole = "", last, next] = note.exec(text) ?? [];
      const tail = text.slice(text.indexOf(whole) + whole.length);
      expect(Number(next)).toBe(Number(last?.replaceAll(",", "")) + 1);
      expect(`${lines.join("")}the end\n`.endsWith(tail)).toBe(true);
      expect(tail).toMatch(/^行 \d+ 😀\n/);
      expect(textOf(await read("long.log", { offset: Number(next), limit: 1 }))).toContain(
        lines[Number(next) - 1],
      );
    },
  );

  test("does not load a file of 100 MB completely", async () => {
    put("large.json", Buffer.alloc(100_000_000, "{ 'item': 1 },\n"));
    const result = await read("large.json");
    expect(textOf(result).length).toBeLessThan(15_200);
    expect(textOf(result)).toContain("of a file of 100,000,000 bytes");
  });

  test("cuts a long line between characters", async () => {
    put("long.txt", `${"😀".repeat(20_000)}\nnext\n`);
    const text = textOf(await read("long.txt"));
    expect(text.isWellFormed()).toBe(true);
    expect(text).toContain("\n[line 1 is too long and was cut; continue with offset=2");
    expect(textOf(await read("long.txt", { offset: 2 }))).toBe("next\n");
  });

  test("decodes characters across chunk borders", async () => {
    put("chunks.txt", `${"a".repeat(262_143)}记\nlast`);
    expect(textOf(await read("chunks.txt", { offset: 2 }))).toBe("last");
  });

  test("returns images within the limits", async () => {
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    put("dot.txt", png);
    expect(await read("dot.txt")).toEqual({
      content: [
        { type: "image", mimeType: "image/png", source: { kind: "base64", data: png.toString("base64") } },
      ],
      details: { mimeType: "image/png", bytes: png.length },
    });
    put("heavy.png", Buffer.concat([png, Buffer.alloc(4_000_000)]));
    expect(textOf(await read("heavy.png"))).toContain("at most 3,750,000 can be shown");
    const wide = Buffer.from(png);
    wide.writeUInt32BE(100_000, 16);
    wide.writeUInt32BE(100_000, 20);
    put("wide.png", wide);
    expect(textOf(await read("wide.png"))).toContain("100,000 × 100,000 pixels");
    wide.writeUInt32BE(8_001, 16);
    wide.writeUInt32BE(1, 20);
    put("long.png", wide);
    expect(textOf(await read("long.png"))).toContain("8,001 × 1 pixels, more than can be shown");
  });

  test("reads the size of an image after long metadata, and refuses an image without a size", async () => {
    const noted = Buffer.concat([
      Buffer.from("ffd8", "hex"),
      ...Array<Buffer>(2).fill(segment(0xe1, 60_000)),
    ]);
    const jpeg = (width: number, height: number): Buffer => {
      const frame = segment(0xc0, 8);
      frame.writeUInt16BE(height, 5);
      frame.writeUInt16BE(width, 7);
      return Buffer.concat([noted, frame, Buffer.alloc(9)]);
    };
    put("small.jpg", jpeg(800, 600));
    expect((await read("small.jpg")).content).toMatchObject([{ type: "image", mimeType: "image/jpeg" }]);
    put("huge.jpg", jpeg(60_000, 60_000));
    expect(textOf(await read("huge.jpg"))).toContain("60,000 × 60,000 pixels, more than can be shown");
    put("hidden.jpg", noted);
    put("flat.jpg", jpeg(60_000, 0));
    for (const name of ["hidden.jpg", "flat.jpg"])
      expect(textOf(await read(name))).toContain("has no dimensions in its header");
  });

  test("refuses binary data", async () => {
    put("x.bin", Buffer.from([1, 2, 0, 3]));
    expect(await read("x.bin")).toMatchObject({ isError: true, details: { bytes: 4, binary: true } });
  });

  test("decodes and names other encodings", async () => {
    put("utf16.txt", Buffer.from("\ufeff你好\n", "utf16le"));
    put("gbk.txt", Buffer.from([0xc4, 0xe3, 0xba, 0xc3, 0x0a]));
    expect(textOf(await read("utf16.txt"))).toBe("你好\n[decoded from UTF-16LE]");
    expect(textOf(await read("gbk.txt"))).toBe("你好\n[decoded from GB18030]");
  });

  test("reports empty and missing files", async () => {
    put("empty", "");
    expect(textOf(await read("empty"))).toBe("(empty is empty)");
    expect(await read("none")).toMatchObject({ isError: true, details: { code: "not_found" } });
    expect(textOf(await read("."))).toBe(". is a folder; use ls.");
  });

  test("follows links inside the workspace", async () => {
    mkdirSync(join(dir, "real"));
    put("real/a.txt", "here");
    symlinkSync("real", join(dir, "alias"));
    symlinkSync(join(dir, "alias/a.txt"), join(dir, "deep"));
    expect(textOf(await read("alias/a.txt"))).toBe("here");
    expect(textOf(await read("deep"))).toBe("here");
    expect(textOf(await read(join(dir, "alias/../real/a.txt")))).toBe("here");
  });

  test("works without descriptors, as on other systems", async () => {
    mkdirSync(join(dir, "a"));
    put("a/b.txt", "here");
    symlinkSync("/etc", join(dir, "out"));
    const plain = await openWorkspace({ dir, viaDescriptors: false });
    const other = caller([createReadTool({ workspace: plain }), createWriteTool({ workspace: plain })]);
    expect(textOf(await other.call("read", { file_path: "a/b.txt" }))).toBe("here");
    expect(await other.call("read", { file_path: "out/hostname" })).toMatchObject({
      details: { code: "outside" },
    });
    expect(textOf(await other.call("write", { file_path: "a/c/d.txt", content: "x" }))).toBe(
      "Wrote a/c/d.txt (1 bytes)",
    );
  });
});

test("names a missing workspace", async () => {
  await expect(openWorkspace({ dir: join(dir, "none") })).rejects.toThrow("does not exist");
  put("file", "");
  await expect(openWorkspace({ dir: join(dir, "file") })).rejects.toThrow("is not a folder");
});

test("closes forbidden places under every name that a file system treats as equal", async () => {
  mkdirSync(join(dir, ".state"));
  const guarded = await openWorkspace({ dir, forbidden: [join(dir, ".state")] });
  const other = caller([createReadTool({ workspace: guarded }), createWriteTool({ workspace: guarded })]);
  for (const file_path of [".state/x", ".STATE/x", ".state", "a/../.State/x"]) {
    if (file_path.startsWith("a/")) mkdirSync(join(dir, "a"));
    expect(await other.call("write", { file_path, content: "" })).toMatchObject({
      details: { code: "forbidden" },
    });
  }
  expect(readdirSync(dir).sort()).toEqual([".state", "a"]);
});

test("hosts read files through the same checks", async () => {
  put("a.ogg", "sound");
  symlinkSync("/etc/hostname", join(dir, "out"));
  expect(Buffer.from(await workspace.readBytes("a.ogg", 100)).toString()).toBe("sound");
  await expect(workspace.readBytes("a.ogg", 4)).rejects.toThrow("at most 4");
  await expect(workspace.readBytes("out", 100)).rejects.toMatchObject({ code: "outside" });
});
