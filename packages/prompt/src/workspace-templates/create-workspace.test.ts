import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { buildSystemPrompt, createWorkspace, detectLanguage, loadWorkspaceFiles } from "../index.ts";

const NAMES = ["AGENTS.md", "BOOTSTRAP.md", "HEARTBEAT.md", "IDENTITY.md", "SOUL.md", "TOOLS.md", "USER.md"];

function folder(): { dir: string; above: string } {
  const above = mkdtempSync(join(tmpdir(), "signalbox-template-"));
  onTestFinished(() => rmSync(above, { recursive: true }));
  const dir = join(above, "coder");
  mkdirSync(dir);
  return { dir, above };
}

describe("createWorkspace", () => {
  it.each(["en", "zh"] as const)(
    "has its first files in %s, and is told of those that say something",
    async (language) => {
      const { dir, above } = folder();
      expect(await createWorkspace(dir, language)).toBe(true);
      expect(readdirSync(dir).sort()).toEqual(NAMES);
      expect(readdirSync(above)).toEqual(["coder"]);
      const isChinese = (name: string) => /\p{Script=Han}/u.test(readFileSync(join(dir, name), "utf8"));
      expect(NAMES.every((name) => isChinese(name) === (language === "zh"))).toBe(true);
      const { files } = await loadWorkspaceFiles(dir);
      const { sections, system } = buildSystemPrompt({ agent: { id: "coder" }, workspaceFiles: files });
      const told = sections.map(({ name }) => name).filter((name) => name.startsWith("workspace-file:"));
      expect(told).toEqual(["workspace-file:AGENTS.md", "workspace-file:SOUL.md"]);
      expect(system.stable).not.toContain("<!--");
    },
  );

  it("does not change a folder that is not empty", async () => {
    const { dir, above } = folder();
    writeFileSync(join(dir, ".gitignore"), "x");
    expect(await createWorkspace(dir, "en")).toBe(false);
    expect(readdirSync(dir)).toEqual([".gitignore"]);
    expect(readdirSync(above)).toEqual(["coder"]);
  });

  it.each([
    [{ LANG: "zh_CN.UTF-8" }, "zh"],
    [{ LC_ALL: "en_GB", LANG: "zh_CN" }, "en"],
    [{ LC_ALL: "", LC_MESSAGES: "zh-Hant", LANG: "C" }, "zh"],
    [{ LANG: "zhx" }, "en"],
    [{}, "en"],
  ])("detectLanguage returns the language of %j: %s", (env, language) =>
    expect(detectLanguage(env)).toBe(language),
  );
});
