import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "@signalbox/config";
import { locateHome, prepareHome } from "@signalbox/home";
import type { SkillCommand } from "@signalbox/skills";
import { expect, it, onTestFinished } from "vitest";
import { accountCommands, resolveAgents } from "../src/index.ts";

function command(name: string): SkillCommand {
  return { name, skillId: name, location: `/skills/${name}/SKILL.md`, description: `Does ${name}.` };
}

/** Names of skills' commands that an account lists, where its messages go to agents that have these. */
function listed(skills: Readonly<Record<string, readonly string[]>>, bound: readonly string[]): string[] {
  const dir = mkdtempSync(join(tmpdir(), "setup-commands-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = locateHome(dir, {});
  prepareHome(home);
  const text = JSON.stringify({
    agents: { list: Object.keys(skills).map((id) => ({ id })) },
    bindings: bound.map((agent, index) => ({
      agent,
      match: { channel: "discord", account: "main", ...(index === 0 ? {} : { guildId: `guild-${index}` }) },
    })),
  });
  const loaded = loadConfig({ file: "signalbox.json", text, env: {} });
  expect(loaded.problems).toEqual([]);
  const agents = resolveAgents(loaded, home);
  const skillsOf = ({ id }: { readonly id: string }) => (skills[id] ?? []).map(command);
  const commands = accountCommands({ config: () => loaded.config, agents, skillsOf })("discord", "main");
  expect(commands.map(({ name }) => name)).toContain("new");
  return commands.map(({ name }) => name).filter((name) => Object.values(skills).flat().includes(name));
}

it("lists the commands of the skills of the agent that an account's messages go to", () => {
  expect(listed({ coder: ["deploy"], writer: ["rhyme"] }, ["coder"])).toEqual(["deploy"]);
});

it("tells of no skill that one of several agents does not have", () => {
  const skills = { coder: ["deploy", "greet"], writer: ["greet", "rhyme"] };
  expect(listed(skills, ["coder", "writer"])).toEqual(["greet"]);
});
