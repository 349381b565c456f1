import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "@signalbox/config";
import { locateHome } from "@signalbox/home";
import { expect, it, onTestFinished } from "vitest";
import { resolveAgents } from "../../src/configure/agents.ts";
import { resolveSkills } from "../../src/configure/skills.ts";

it("says which folder cannot be written where skills cannot be pinned, and what to do", async () => {
  const dir = mkdtempSync(join(tmpdir(), "setup-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = locateHome(dir, {});
  const skill = join(home.skillsDir, "tea");
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, "SKILL.md"), "---\nname: tea\ndescription: Makes tea.\n---\nBoil water.\n");
  symlinkSync(join(dir, "nowhere", "at-all"), home.skillPinsDir);
  const loaded = loadConfig({ file: "signalbox.yaml", text: "", env: {} });
  const agents = resolveAgents(loaded, home);
  const env = { HOME: dir };
  const skills = await resolveSkills({ loaded, home, agents, env, bundledDir: join(dir, "none") });
  await expect(skills.pinFirstSeen()).rejects.toMatchObject({
    code: "cannot_write",
    message: expect.stringMatching(
      /^Skills cannot be pinned in \S+skill-pins: .*\. Make that folder writable/,
    ),
  });
});
