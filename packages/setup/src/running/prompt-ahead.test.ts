import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "@signalbox/config";
import { locateHome } from "@signalbox/home";
import { createVault } from "@signalbox/redaction";
import { expect, it, onTestFinished, vi } from "vitest";
import { PACKAGES } from "../../test/packages.ts";
import { resolveAgents } from "../agents.ts";
import { resolveModels } from "../models.ts";
import { resolveSkills } from "../skills.ts";
import { createPromptAhead } from "./prompt-ahead.ts";

it("reads an agent's tools and files, and leaves its workspace as it is, and its skills to be looked at", async () => {
  const dir = mkdtempSync(join(tmpdir(), "setup-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = locateHome(dir, {});
  const loaded = loadConfig({ file: "signalbox.yaml", text: "agents: { list: [{ id: main }] }", env: {} });
  const agents = resolveAgents(loaded, home);
  const [agent] = agents.all;
  if (agent === undefined) throw new Error("there is no agent");
  mkdirSync(agent.workspaceDir, { recursive: true });
  for (const name of ["AGENTS.md", "BOOTSTRAP.md"])
    writeFileSync(join(agent.workspaceDir, name), "Be kind.\n");
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const skills = await resolveSkills({ loaded, home, agents, env: { HOME: dir }, bundledDir: dir });
  const read: string[] = [];
  const ahead = createPromptAhead({
    models: resolveModels(loaded, agents, {}, createVault(), PACKAGES),
    skills,
  });
  vi.setSystemTime(Date.now() + 60_000);
  await ahead(agent, [
    {
      name: "look",
      get description() {
        read.push("look");
        return "Looks.";
      },
      inputSchema: { type: "object" },
      effects: "none",
      execute: () => Promise.reject(new Error("nobody asked")),
    },
  ]);
  expect(new Set(read)).toEqual(new Set(["look"]));
  expect(readdirSync(agent.workspaceDir).sort()).toEqual(["AGENTS.md", "BOOTSTRAP.md"]);
  // A turn that follows at once has skills as they are then.
  mkdirSync(join(home.skillsDir, "tea"), { recursive: true });
  writeFileSync(join(home.skillsDir, "tea", "SKILL.md"), "---\ndescription: Makes tea.\n---\nBoil water.\n");
  expect((await skills.forAgent(agent)).skills.map(({ id }) => id)).toEqual(["tea"]);
});
