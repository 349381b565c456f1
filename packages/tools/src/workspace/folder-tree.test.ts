import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import promises, { open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { FolderTree } from "./folder-tree.ts";

/** A disk whose folders give an error when they are closed; returns how many did. */
function breakFolders(): () => number {
  let broken = 0;
  const { open: whole } = promises;
  const opened = vi.spyOn(promises, "open").mockImplementation(async (...args) => {
    const handle = await whole(...args);
    if (!(await handle.stat()).isDirectory()) return handle;
    const close = handle.close.bind(handle);
    handle.close = async () => {
      await close();
      broken++;
      throw new Error("input/output error");
    };
    return handle;
  });
  // Modules that import `open` by its name get the one that there is now.
  syncBuiltinESMExports();
  onTestFinished(() => {
    opened.mockRestore();
    syncBuiltinESMExports();
  });
  return () => broken;
}

test("a folder that could not be closed is no error of whoever looks at its files, then or later", async () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "folder-tree-")));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const broken = breakFolders();
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
  expect(broken()).toBe(101);
});
