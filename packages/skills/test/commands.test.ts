import { describe, expect, it } from "vitest";
import type { CommandOptions } from "../src/commands.ts";
import { createSkills, readInvocation } from "../src/index.ts";
import { folder, skill } from "./folders.ts";

const dir = () =>
  folder({
    "weather/SKILL.md": skill(
      "description: Tells the weather. Use when somebody asks for it.\nmetadata: { signalbox: { localized: { zh: 查询天气 } } }",
    ),
    "help/SKILL.md": skill("name: Help!\ndescription: 帮助。用于提问。"),
    "deploy/SKILL.md": skill("command-dispatch: tool\ncommand-tool: exec\ncommand-arg-mode: raw"),
    "silent/SKILL.md": skill("user-invocable: false"),
  });

async function getCommands(options: CommandOptions) {
  const agent = await createSkills({ sources: [{ kind: "bundled", dir: dir() }] }).forAgent();
  return agent.commands(options);
}

describe("slash commands", () => {
  it("exist for the skills that may have one", async () => {
    const commands = await getCommands({ reserved: ["help"] });
    expect(commands.map(({ name, skillId, description }) => [name, skillId, description])).toEqual([
      ["deploy", "deploy", "Do it."],
      ["help_2", "help", "帮助。用于提问。"],
      ["weather", "weather", "Tells the weather."],
    ]);
    expect(commands[0]?.dispatch).toEqual({ kind: "tool", tool: "exec", argMode: "raw" });
    expect(commands.map(({ localized }) => localized?.["zh"])).toEqual([undefined, undefined, "查询天气"]);
    expect(commands[2]?.location).toMatch(/\/weather\/SKILL\.md$/);
  });

  it("that call a tool exist only for agents with that tool", async () => {
    expect((await getCommands({ tools: ["read"] })).map(({ name }) => name)).toEqual(["help", "weather"]);
    expect(await getCommands({ tools: ["read", "exec"] })).toHaveLength(3);
  });
});

describe("readInvocation", () => {
  const commands = commandsOfStatic();

  it.each([
    ["/weather 上海", "weather", "上海"],
    ["  /Weather@my_bot  上海\n明天 ", "weather", "上海\n明天"],
    ["/weather", "weather", ""],
    ["/skill weather 上海", "weather", "上海"],
    ["/skill help_2", "help", ""],
    ["/skill HELP now", "help", "now"],
  ])("reads %j", (text, skillId, args) => {
    expect(readInvocation(text, commands)).toMatchObject({ command: { skillId }, args });
  });

  it.each([
    "weather",
    "/",
    "//weather",
    "/weather上海",
    "/skill",
    "/skill nope",
    "/nope",
    "say /weather",
    "",
  ])("leaves %j alone", async (text) => {
    expect(readInvocation(text, commands)).toBeUndefined();
  });

  it("creates a prompt that names the skill and the arguments", async () => {
    expect(readInvocation("/weather 上海", commands)?.prompt).toBe(
      "Follow the skill weather: read ./skills/weather/SKILL.md, then do what it says with this:\n\n上海",
    );
    expect(readInvocation("/weather", commands)?.prompt).toBe(
      "Follow the skill weather: read ./skills/weather/SKILL.md, then do what it says.",
    );
  });
});

function commandsOfStatic() {
  const base = (skillId: string) => ({ skillId, location: `./skills/${skillId}/SKILL.md`, description: "d" });
  return [
    { name: "weather", ...base("weather") },
    { name: "help_2", ...base("help") },
  ];
}
