import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SkillParseError } from "./frontmatter.ts";
import { parseSkill } from "./skill-file.ts";

const withFields = (frontmatter: string) => parseSkill(`---\n${frontmatter}\n---\n# Title\n\nText.`);

describe("parseSkill", () => {
  it("describes a skill without frontmatter by its first paragraph", () => {
    const text =
      "# create-python-script\n\n当用户请求创建 Python 脚本时使用本 Skill。\n\n## 步骤\n1. 用 `ls` 查看。\n";
    expect(parseSkill(text)).toEqual({
      description: "当用户请求创建 Python 脚本时使用本 Skill。",
      always: false,
      requires: { bins: [], anyBins: [], env: [], config: [], os: [] },
      install: [],
      userInvocable: true,
      warnings: [],
      disableModelInvocation: false,
    });
  });

  it.each([
    ["# Title\nFirst\nparagraph.\n\nSecond.", "First paragraph."],
    ["Text at once.\n\n# Later", "Text at once."],
    ["# Only a title", "Only a title"],
    ["# Title\n\n- a list\n- and nothing else", "Title"],
    ["# Title\n\n```sh\ncurl x\n```\n\nAfter the code.", "After the code."],
    ["", undefined],
  ])("describes %j as %j", (text, description) => {
    expect(parseSkill(text).description).toBe(description);
  });

  it("reads all fields, and prefers metadata under our own name", () => {
    const parsed = withFields(`
name: weather
description: |
  Current weather.
  Use when: asked for it.
version: 1.2
user-invocable: false
disable-model-invocation: true
command-dispatch: tool
command-tool: exec
command-arg-mode: raw
metadata:
  openclaw: { emoji: "no", requires: { bins: [no] } }
  signalbox:
    emoji: "🌤️"
    localized: { zh: " 查询\\n天气 ", "not a language": x, de: "" }
    always: true
    os: macos
    primaryEnv: KEY
    install: [{ id: own, kind: brew, formula: curl, bins: [curl], os: [macos] }, { kind: unknown }]
    requires: { bins: [curl], anyBins: [a, b], env: KEY, config: [tools.x], os: [linux] }`);
    expect(parsed).toEqual({
      name: "weather",
      description: "Current weather. Use when: asked for it.",
      declaredVersion: "1.2",
      emoji: "🌤️",
      localized: { zh: "查询 天气" },
      always: true,
      body: "# Title\n\nText.",
      requires: {
        bins: ["curl"],
        anyBins: ["a", "b"],
        env: ["KEY"],
        config: ["tools.x"],
        os: ["darwin", "linux"],
      },
      primaryEnv: "KEY",
      install: [{ id: "own", kind: "brew", formula: "curl", bins: ["curl"], os: ["darwin"] }],
      userInvocable: false,
      warnings: [],
      disableModelInvocation: true,
      dispatch: { kind: "tool", tool: "exec", argMode: "raw" },
    });
  });

  it("reads metadata as JSON, over several lines or as text", () => {
    const json = '{ "openclaw": { "emoji": "🌤️", "requires": { "bins": ["curl"] } } }';
    expect(withFields(`name: w\nmetadata:\n  ${json}`).requires.bins).toEqual(["curl"]);
    expect(withFields(`name: w\nmetadata: '${json}'`).requires.bins).toEqual(["curl"]);
  });

  it.each(["signalbox", "openclaw", "clawdbot", "moltbot", "clawdis"])("reads metadata of %s", (name) => {
    const parsed = withFields(`metadata: { ${name}: { emoji: x, requires: { bins: [curl] } } }`);
    expect(parsed).toMatchObject({ emoji: "x", requires: { bins: ["curl"] } });
  });

  it.each([
    "metadata:",
    "metadata: []",
    "metadata: { openclaw: { requires: [] } }",
    "metadata: { openclaw: ~ }",
  ])("takes %j for no requirements", (frontmatter) => {
    expect(withFields(frontmatter).requires).toEqual({ bins: [], anyBins: [], env: [], config: [], os: [] });
  });

  it("reads CRLF line breaks and a byte-order mark", () => {
    expect(parseSkill("\ufeff---\r\nname: a\r\ndescription: b\r\n---\r\ntext")).toMatchObject({
      name: "a",
      description: "b",
    });
  });

  it("ignores blank lines before the frontmatter, and counts them in the lines of errors", () => {
    expect(parseSkill("\n\n---\nname: a\ndescription: d\n---\nText.")).toMatchObject({
      name: "a",
      description: "d",
    });
    const broken = () => parseSkill("\n\n---\nname: a\ndescription: [\n---\nText.");
    expect(broken).toThrow(expect.objectContaining({ line: 5 }));
  });

  it("reads an unquoted description with a colon", () => {
    const parsed = withFields(
      "name: a\ndescription: Use when: somebody asks #now\nmetadata: { openclaw: { always: true } }",
    );
    expect(parsed).toMatchObject({ description: "Use when: somebody asks #now", always: true });
  });

  it("shortens names and descriptions that are too long", () => {
    const { name, description } = withFields(`name: ${"n".repeat(100)}\ndescription: ${"🙂".repeat(2_000)}`);
    expect(name).toHaveLength(64);
    expect(description?.length).toBeLessThanOrEqual(1_024);
    expect(description).toMatch(/^(🙂)+…$/u);
  });

  it.each([
    ["The frontmatter that starts in line 1 is never closed with ---.", "---\nname: a\n"],
    ["The frontmatter is not YAML: ", "---\nversion: 1\nname: [a\n---\n"],
    ["The frontmatter must hold fields with names.", "---\n- a\n---\n"],
    ["name must be text.", "---\nname: [a]\n---\n"],
    ["metadata is not YAML: ", "---\nmetadata: '{'\n---\n"],
    ["user-invocable must be true or false.", "---\nuser-invocable: maybe\n---\n"],
    ["metadata must hold fields with names.", "---\nmetadata: 3\n---\n"],
    [
      "metadata.signalbox.requires.bins must be a list of names.",
      "---\nmetadata: { signalbox: { requires: { bins: 3 } } }\n---\n",
    ],
    ['command-dispatch must be tool, not "script".', "---\ncommand-dispatch: script\n---\n"],
    ["command-dispatch: tool needs a command-tool.", "---\ncommand-dispatch: tool\n---\n"],
    [
      'command-arg-mode must be raw, not "json".',
      "---\ncommand-dispatch: tool\ncommand-tool: x\ncommand-arg-mode: json\n---\n",
    ],
    ["The frontmatter has more than 8192 characters.", `---\nname: ${"x".repeat(40_000)}\n---\n`],
  ])("rejects with: %s", (message, text) => {
    expect(() => parseSkill(text)).toThrow(SkillParseError);
    expect(() => parseSkill(text)).toThrow(message);
  });

  it("limits the work on hostile YAML", () => {
    const bomb = Array.from(
      { length: 20 },
      (_, i) => `x${i}: &x${i} [${i === 0 ? "1" : `*x${i - 1}, *x${i - 1}`}]`,
    );
    expect(() => withFields(bomb.join("\n"))).toThrow(SkillParseError);
    expect(() => withFields(`name: ${"[".repeat(30_000)}`)).toThrow(SkillParseError);
    expect(withFields("__proto__: { name: evil }\nname: good").name).toBe("good");
    expect(
      withFields("__proto__: { always: true }\nmetadata: { signalbox: { __proto__: { always: true } } }")
        .always,
    ).toBe(false);
  });

  it("parses or rejects any text", () => {
    const word = fc.constantFrom(
      "---",
      "\n",
      "name:",
      "description: ",
      "metadata:",
      " ",
      "{",
      "}",
      "[",
      '"',
      "- ",
      "&a",
      "*a",
      "#",
      "é",
      "|",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(word, fc.string({ maxLength: 4 })), { maxLength: 40 }), (parts) => {
        for (const text of [parts.join(""), `---\n${parts.join("")}\n---\n`]) {
          try {
            const { name, description } = parseSkill(text);
            for (const line of [name, description]) expect(line ?? "").not.toMatch(/[\n\r]/);
          } catch (error) {
            expect(error).toBeInstanceOf(SkillParseError);
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
