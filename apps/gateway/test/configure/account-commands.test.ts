import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChannelCommand } from "@signalbox/channel";
import { loadConfig } from "@signalbox/config";
import { locateHome, prepareHome } from "@signalbox/home";
import type { SkillCommand } from "@signalbox/skills";
import { expect, it, onTestFinished } from "vitest";
import { accountCommands } from "../../src/chat-commands/account-commands.ts";
import { resolveAgents } from "../../src/configure/agents.ts";
import { fakeContext } from "../support/fake-context.ts";

function command(name: string): SkillCommand {
  return { name, skillId: name, location: `/skills/${name}/SKILL.md`, description: `Does ${name}.` };
}

/** What an account lists, where its messages go to agents that have these skills, and maybe a language. */
function commandsOf(
  skills: Readonly<Record<string, readonly string[]>>,
  bound: readonly string[],
  languages: Readonly<Record<string, string>> = {},
): readonly ChannelCommand[] {
  const dir = mkdtempSync(join(tmpdir(), "setup-commands-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = locateHome(dir, {});
  prepareHome(home);
  const text = JSON.stringify({
    agents: { list: Object.keys(skills).map((id) => ({ id, language: languages[id] })) },
    bindings: bound.map((agent, index) => ({
      agent,
      match: { channel: "discord", account: "main", ...(index === 0 ? {} : { guildId: `guild-${index}` }) },
    })),
  });
  const loaded = loadConfig({ file: "signalbox.json", text, env: {} });
  expect(loaded.problems).toEqual([]);
  const agents = resolveAgents(loaded, home);
  const latest = ({ id }: { readonly id: string }) => ({ commands: () => (skills[id] ?? []).map(command) });
  const current = () => ({
    settings: loaded.config,
    agents,
    skills: { latest },
    plugins: { tools: [], problems: [] },
  });
  return accountCommands(fakeContext({ config: { current } }))("discord", "main");
}

/** Names of the commands of skills among them. */
function listed(skills: Readonly<Record<string, readonly string[]>>, bound: readonly string[]): string[] {
  const commands = commandsOf(skills, bound);
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

it("lists them in the language of its agents, and in each person's own where they have none in common", () => {
  const described = (languages: Readonly<Record<string, string>>) => {
    const [first] = commandsOf({ coder: [], writer: [] }, ["coder", "writer"], languages);
    return [first?.description, first?.localized?.["zh"]];
  };
  const [english, chinese] = described({});
  expect(described({ coder: "zh", writer: "zh" })).toEqual([chinese, chinese]);
  expect(described({ coder: "en", writer: "en" })).toEqual([english, english]);
  expect(described({ coder: "zh", writer: "en" })).toEqual([english, chinese]);
  expect(described({ coder: "zh" })).toEqual([english, chinese]);
});
