import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createWorkspace, endFirstRun, readFirstRun } from "./index.ts";

async function workspace(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-first-run-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  await createWorkspace(dir, "en");
  return dir;
}

const LATER = new Date(Date.now() + 60_000);

describe("the first conversation", () => {
  it("has a volatile section and is over after three answers", async () => {
    const dir = await workspace();
    const { section, isOver } = await readFirstRun(dir, 2);
    expect(section).toMatchObject({
      part: "volatile",
      text: readFileSync(join(dir, "BOOTSTRAP.md"), "utf8"),
    });
    expect(isOver).toBe(false);
    expect(await readFirstRun(dir, 3)).toEqual({ section: undefined, isOver: true });
  });

  it.each(["USER.md", "IDENTITY.md"])("is over once the agent has written to %s", async (name) => {
    const dir = await workspace();
    writeFileSync(join(dir, name), "# Notes\nAnn, in English.");
    utimesSync(join(dir, name), LATER, LATER);
    expect((await readFirstRun(dir, 1)).isOver).toBe(true);
    writeFileSync(join(dir, name), "# Notes\n<!-- nothing yet -->");
    utimesSync(join(dir, name), LATER, LATER);
    expect((await readFirstRun(dir, 1)).isOver).toBe(false);
  });

  it("starts in a workspace with notes if BOOTSTRAP.md was added later", async () => {
    const dir = await workspace();
    writeFileSync(join(dir, "USER.md"), "Ann.");
    utimesSync(join(dir, "BOOTSTRAP.md"), LATER, LATER);
    expect((await readFirstRun(dir, 0)).section).toBeDefined();
  });

  it("removes its file, and neither reads nor removes through a link", async () => {
    const dir = await workspace();
    await endFirstRun(dir);
    expect(existsSync(join(dir, "BOOTSTRAP.md"))).toBe(false);
    expect(await readFirstRun(dir, 0)).toEqual({ section: undefined, isOver: false, problem: undefined });
    symlinkSync(join(dir, "SOUL.md"), join(dir, "BOOTSTRAP.md"));
    expect((await readFirstRun(dir, 9)).problem?.code).toBe("link");
    await endFirstRun(dir);
    expect(existsSync(join(dir, "BOOTSTRAP.md"))).toBe(false);
    expect(existsSync(join(dir, "SOUL.md"))).toBe(true);
    await endFirstRun(dir);
  });
});
