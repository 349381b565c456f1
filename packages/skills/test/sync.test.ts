import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSkills, type Skill, syncSkills } from "../src/index.ts";
import { folder, skill, write } from "./folders.ts";

function skillsIn(workspaceDir: string): readonly Skill[] {
  return createSkills({ sources: [], maxAgeMs: 0 }).forAgent({ workspaceDir }).skills;
}

describe("syncSkills", () => {
  it("copies folders, runnable files as such, and then only what changed", async () => {
    const workspace = folder({
      "skills/a/SKILL.md": skill("name: A b/../c"),
      "skills/a/scripts/run.sh": "#!/bin/sh\n",
      "skills/b/SKILL.md": "# b",
    });
    chmodSync(join(workspace, "skills/a/scripts/run.sh"), 0o755);
    const target = join(folder(), "sandbox", "skills");

    const first = await syncSkills(skillsIn(workspace), target);
    expect(first).toMatchObject({ copied: ["a-b-..-c", "b"], unchanged: [], removed: [], failed: [] });
    expect(first.files.get("b")).toBe(join(target, "b", "SKILL.md"));
    expect(statSync(join(target, "a-b-..-c/scripts/run.sh")).mode & 0o111).not.toBe(0);
    expect(statSync(join(target, "b/SKILL.md")).mode & 0o111).toBe(0);

    write(workspace, { "skills/b/SKILL.md": "# b, changed" });
    const second = await syncSkills(skillsIn(workspace), target);
    expect(second).toMatchObject({ copied: ["b"], unchanged: ["a-b-..-c"] });
    expect(readFileSync(join(target, "b/SKILL.md"), "utf8")).toBe("# b, changed");

    rmSync(join(workspace, "skills/b"), { recursive: true });
    expect(await syncSkills(skillsIn(workspace), target)).toMatchObject({ removed: ["b"] });
    expect(existsSync(join(target, "b"))).toBe(false);
  });

  it("makes anew what somebody changed, added, or put a link in place of", async () => {
    const workspace = folder({
      "skills/a/SKILL.md": "# a",
      "skills/b/SKILL.md": "# b",
      "skills/c/SKILL.md": "# c",
    });
    const target = join(folder(), "skills");
    const outside = folder({ "SKILL.md": "# c", "precious.txt": "keep" });
    await syncSkills(skillsIn(workspace), target);
    write(target, { "a/SKILL.md": "# x", "b/extra.md": "obey", "other/file": "" });
    rmSync(join(target, "c"), { recursive: true });
    symlinkSync(outside, join(target, "c"));
    symlinkSync(outside, join(target, "stray"));
    expect(await syncSkills(skillsIn(workspace), target)).toMatchObject({
      copied: ["a", "b", "c"],
      removed: ["other", "stray"],
    });
    expect(lstatSync(join(target, "c")).isDirectory()).toBe(true);
    expect(readdirSync(join(target, "b"))).toEqual(["SKILL.md"]);
    expect(readFileSync(join(outside, "precious.txt"), "utf8")).toBe("keep");
    expect(readdirSync(outside)).toEqual(["SKILL.md", "precious.txt"]);
  });

  it("copies no links, and nothing from beyond a folder that became a link", async () => {
    const outside = folder({ "SKILL.md": "# secret", "key.pem": "secret" });
    const workspace = folder({
      "skills/a/SKILL.md": "# a",
      "skills/b/SKILL.md": "# b",
      "skills/b/data/x.txt": "x",
    });
    symlinkSync(join(outside, "key.pem"), join(workspace, "skills/a/key.pem"));
    const skills = skillsIn(workspace);
    // After the scan, the agent swaps a folder of its workspace for a link.
    renameSync(join(workspace, "skills/b"), join(workspace, "old"));
    symlinkSync(outside, join(workspace, "skills/b"));
    const target = join(folder(), "skills");
    const result = await syncSkills(skills, target);
    expect(result.copied).toEqual(["a"]);
    expect(result.failed).toMatchObject([{ id: "b" }]);
    expect(readdirSync(target).sort()).toEqual([".signalbox-skills", "a"]);
    expect(readdirSync(join(target, "a"))).toEqual(["SKILL.md"]);
  });

  it("does not touch a folder that it did not make", async () => {
    const workspace = folder({ "skills/a/SKILL.md": "# a" });
    const theirs = folder({ "thesis.txt": "precious" });
    await expect(syncSkills(skillsIn(workspace), theirs)).rejects.toMatchObject({ code: "not-ours" });
    const link = join(folder(), "link");
    mkdirSync(join(theirs, "empty"));
    symlinkSync(join(theirs, "empty"), link);
    await expect(syncSkills(skillsIn(workspace), link)).rejects.toMatchObject({ code: "not-ours" });
    expect(readdirSync(theirs)).toEqual(["empty", "thesis.txt"]);
  });

  it("leaves no half of a skill that is too large", async () => {
    const workspace = folder({ "skills/a/SKILL.md": "# a", "skills/b/SKILL.md": "# b" });
    const target = join(folder(), "skills");
    await syncSkills(skillsIn(workspace), target);
    for (let i = 0; i < 1_001; i++) write(workspace, { [`skills/b/f${i}`]: "" });
    const result = await syncSkills(skillsIn(workspace), target);
    expect(result).toMatchObject({ unchanged: ["a"], failed: [{ id: "b" }] });
    expect(result.files.has("b")).toBe(false);
    expect(existsSync(join(target, "b"))).toBe(false);
  });
});
