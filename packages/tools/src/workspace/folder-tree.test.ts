import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { FolderTree } from "./folder-tree.ts";

// A disk whose folders give an error when they are closed.
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  const open: typeof real.open = async (...args) => {
    const handle = await real.open(...args);
    if (!(await handle.stat()).isDirectory()) return handle;
    const close = handle.close.bind(handle);
    handle.close = async () => {
      await close();
      throw new Error("input/output error");
    };
    return handle;
  };
  return { ...real, open };
});

test("a folder that could not be closed is no error of whoever looks at its files, then or later", async () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "folder-tree-")));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const tree = new FolderTree({
    path: dir,
    handle: await open(dir),
    viaDescriptors: process.platform === "linux",
    assertOpen: () => {},
    displayPath: (path) => path,
  });
  // More than stay open.
  for (let n = 0; n < 100; n++) {
    mkdirSync(join(dir, `d${n}`));
    writeFileSync(join(dir, `d${n}`, "a.txt"), "a");
    const file = await tree.openFile(`d${n}/a.txt`);
    expect(file.size).toBe(1);
    await file.close();
  }
  await tree.close();
});
