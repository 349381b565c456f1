import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import promises, { open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { FolderTree } from "./folder-tree.ts";

/** Makes closing a folder fail. Returns a function that counts the failures. */
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
  // Updates the modules that import `open` by name.
  syncBuiltinESMExports();
  onTestFinished(() => {
    opened.mockRestore();
    syncBuiltinESMExports();
  });
  return () => broken;
}

test("an error on closing a folder does not affect reading its files", async () => {
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
  // More folders than the cache keeps open.
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
