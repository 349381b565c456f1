import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "@signalbox/config";
import { locateHome } from "@signalbox/home";
import { createVault } from "@signalbox/redaction";
import { expect, it, onTestFinished } from "vitest";
import { PACKAGES } from "../../test/packages.ts";
import { resolveAgents } from "../agents.ts";
import { resolveModels } from "../models.ts";
import { resolveSkills } from "../skills.ts";
import { createPromptAhead } from "./prompt-ahead.ts";

it("reads an agent's skills and tools, and leaves its workspace as it is", async () => {
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
  const skills = await resolveSkills({ loaded, home, agents, env: { HOME: dir }, bundledDir: dir });
  const read: string[] = [];
  const ahead = createPromptAhead({
    models: resolveModels(loaded, agents, {}, createVault(), PACKAGES),
    skills: {
      forAgent(of) {
        read.push(`skills of ${of.id}`);
        return skills.forAgent(of);
      },
    },
  });
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
  expect(new Set(read)).toEqual(new Set(["skills of main", "look"]));
  expect(readdirSync(agent.workspaceDir).sort()).toEqual(["AGENTS.md", "BOOTSTRAP.md"]);
});
