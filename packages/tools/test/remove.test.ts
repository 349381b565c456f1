import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openWorkspace } from "../src/index.ts";
import { WorkspaceError } from "../src/workspace/errors.ts";

it("removes only empty folders of the workspace", async () => {
  const base = mkdtempSync(join(tmpdir(), "remove-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const dir = join(base, "workspace");
  for (const folder of ["workspace/empty", "workspace/full", "outside", "skills/empty"])
    mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(dir, "full/a.txt"), "x");
  symlinkSync(join(base, "outside"), join(dir, "out"));
  const workspace = await openWorkspace({ dir, readOnlyDirs: [join(base, "skills")] });
  for (const path of ["full", "full/a.txt", "out", "absent", "../outside", join(base, "skills/empty")])
    await expect(workspace.removeFolder(path), path).rejects.toThrow();
  await workspace.removeFolder("empty");
  expect(existsSync(join(dir, "empty"))).toBe(false);
  for (const folder of ["workspace/full/a.txt", "outside", "skills/empty"])
    expect(existsSync(join(base, folder))).toBe(true);
});

it("removes only files of the workspace", async () => {
  const base = mkdtempSync(join(tmpdir(), "remove-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const dir = join(base, "workspace");
  for (const folder of ["workspace/sub", "outside", "skills"])
    mkdirSync(join(base, folder), { recursive: true });
  for (const file of ["workspace/sub/a.txt", "workspace/closed", "outside/b.txt", "skills/c.md"])
    writeFileSync(join(base, file), "x");
  symlinkSync(join(base, "outside"), join(dir, "out"));
  symlinkSync(join(base, "outside/b.txt"), join(dir, "b.txt"));
  const workspace = await openWorkspace({
    dir,
    readOnlyDirs: [join(base, "skills")],
    forbidden: [join(dir, "closed")],
  });
  const codes: Record<string, string> = {
    "../outside/b.txt": "outside",
    "out/b.txt": "outside",
    "b.txt": "outside",
    closed: "forbidden",
    sub: "not_a_file",
    absent: "not_found",
    [join(base, "skills/c.md")]: "read_only",
  };
  for (const [path, code] of Object.entries(codes)) {
    const error: unknown = await workspace.removeFile(path).catch((thrown: unknown) => thrown);
    expect([path, error instanceof WorkspaceError ? error.code : error]).toEqual([path, code]);
  }
  await workspace.removeFile("sub/a.txt");
  expect(existsSync(join(dir, "sub/a.txt"))).toBe(false);
  for (const file of ["workspace/closed", "outside/b.txt", "skills/c.md"])
    expect(existsSync(join(base, file))).toBe(true);
});
