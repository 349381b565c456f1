import { defineTool } from "@signalbox/agent-core";
import { phrasesIn } from "@signalbox/phrases";
import { describe, expect, it } from "vitest";
import { parseToolArguments } from "../../src/command-syntax/arguments.ts";
import { COMMANDS, listedCommands } from "../../src/command-syntax/table.ts";
import { modelText, skillsText, thinkText } from "../../src/command-syntax/texts.ts";

const en = phrasesIn("en");

describe("texts of commands", () => {
  it("show the current setting, or the possible ones after an invalid value", () => {
    expect(modelText(en, "openai/a", ["openai/a"], "b")).toMatch(
      /^There is no usable model named b\.\nAvailable:\n- openai\/a/,
    );
    expect(thinkText(en, "low", "")).toMatch(/^Thinking: low\. Choose one of: off, .*, default\.$/);
    expect(skillsText(en, [], "x")).toBe("This agent has no skills.");
    const weather = { name: "weather", description: "The weather.", localized: { zh: "天气。" } };
    expect(skillsText(en, [weather], "wether now")).toBe(
      "There is no skill named wether. Available skills:\n- weather: The weather.",
    );
    expect(skillsText(phrasesIn("zh"), [weather], "")).toBe("技能：\n- weather: 天气。");
  });

  it("of a refusal name those who may use the command", () => {
    for (const { name, role } of Object.values(COMMANDS)) {
      expect(en.mayNotUse(name).startsWith("Only owners may use"), name).toBe(role === "owner");
      expect(phrasesIn("zh").mayNotUse(name).endsWith("仅限所有者使用。"), name).toBe(role === "owner");
    }
  });

  it("menus of platforms have every command with one line", () => {
    for (const { name, description, localized } of listedCommands()) {
      expect(name).toMatch(/^[a-z]+$/);
      expect(description).toMatch(/^[^\n]{1,100}$/);
      expect(localized?.["zh"]).toMatch(/^(?=.*\p{Script=Han})[^\n]{1,100}$/u);
    }
  });

  it("menus of platforms are in one language where that is set", () => {
    expect(listedCommands("zh")[0]?.description).toMatch(/\p{Script=Han}/u);
    expect(listedCommands("en")[0]?.localized?.["zh"]).toBe(listedCommands("en")[0]?.description);
  });
});

describe("the text after a command", () => {
  const tool = (properties: object, required: readonly string[] = []) =>
    defineTool({
      name: "t",
      description: "A tool.",
      effects: "none",
      execute: () => "",
      input: JSON.parse(JSON.stringify({ type: "object", properties, required })),
    });
  const text = { type: "string" };

  it("becomes the only required or optional text argument of a tool", () => {
    expect(parseToolArguments(tool({ path: text, limit: { type: "number" } }, ["path"]), "a.md")).toEqual({
      path: "a.md",
    });
    expect(parseToolArguments(tool({ note: text }), "hello")).toEqual({ note: "hello" });
    expect(parseToolArguments(tool({ note: text }), "")).toEqual({});
  });

  it("does not call a tool that needs other arguments", () => {
    expect(parseToolArguments(tool({ a: text, b: text }, ["a", "b"]), "x")).toBeUndefined();
    expect(
      parseToolArguments(tool({ mode: { type: "string", enum: ["on"] } }, ["mode"]), "on"),
    ).toBeUndefined();
    expect(parseToolArguments(tool({ n: { type: "number" } }), "7")).toBeUndefined();
  });
});
