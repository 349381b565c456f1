import type { MessageEvent } from "@signalbox/channel";
import { phrasesIn } from "@signalbox/phrases";
import type { Role } from "@signalbox/routing";
import { readInvocation, type SkillCommand } from "@signalbox/skills";
import { describe, expect, it } from "vitest";
import { type Order, type OrderedMessage, readOrder } from "../../src/command-syntax/read.ts";
import { COMMANDS, helpText, isCommandName, mayUseCommand } from "../../src/command-syntax/table.ts";

const WEATHER: SkillCommand = {
  name: "weather",
  skillId: "weather",
  location: "~/skills/weather/SKILL.md",
  description: "The weather.",
};
const GLANCE: SkillCommand = {
  name: "glance",
  skillId: "glance",
  location: "~/skills/glance/SKILL.md",
  description: "Look at a file.",
  dispatch: { kind: "tool", tool: "read", argMode: "raw" },
};
const MODELS: Readonly<Record<string, string>> = {
  "gpt-5.2": "openai/gpt-5.2",
  "openai/gpt-5.2": "openai/gpt-5.2",
};

function read(text: string, role: Role = "owner", more: Partial<OrderedMessage> = {}): Order | undefined {
  const message: OrderedMessage = {
    text,
    conversation: { id: "anna", kind: "direct" },
    addressed: "dm",
    ...more,
  };
  return readOrder(message, {
    role,
    skill: (said) => readInvocation(said, [WEATHER, GLANCE]),
    model: (typed) => MODELS[typed],
  });
}

const turn = (text: string, choice: object = {}, fresh = false) => ({ kind: "turn", text, choice, fresh });

describe("commands and directives of a message", () => {
  it.each<[string, unknown]>([
    ["hello", undefined],
    ["look at /status please", undefined],
    ["/etc/passwd is a file", undefined],
    ["/ status", undefined],
    ["//status", undefined],
    ["/etc is full", undefined],
    ["/home", { kind: "unknown", name: "home" }],
    ["/constructor", { kind: "unknown", name: "constructor" }],
    ["/aprove ABCD2345 allow", { kind: "unknown", name: "aprove" }],
    ["/models of cars", { kind: "unknown", name: "models" }],
    [`/${"x".repeat(64)}`, { kind: "unknown", name: "x".repeat(64) }],
    [`/${"x".repeat(65)}`, undefined],
    ["/status", { kind: "command", name: "status", args: "" }],
    ["  /STATUS  ", { kind: "command", name: "status", args: "" }],
    ["/help@signal_bot", { kind: "command", name: "help", args: "" }],
    ["/approve ABCD2345\nallow", { kind: "command", name: "approve", args: "ABCD2345\nallow" }],
    ["/new", { kind: "command", name: "new", args: "" }],
    ["/reset write a poem", turn("write a poem", {}, true)],
    ["/think", { kind: "command", name: "think", args: "" }],
    ["/think hard about it", { kind: "command", name: "think", args: "hard" }],
    ["/think high", { kind: "choose", name: "think", choice: { thinking: "high" } }],
    ["/think high explain\nthis", turn("explain\nthis", { thinking: "high" })],
    ["/think default", { kind: "choose", name: "think", choice: { thinking: "default" } }],
    ["/model", { kind: "command", name: "model", args: "" }],
    ["/model gpt-9 hi", { kind: "command", name: "model", args: "gpt-9" }],
    ["/model gpt-5.2 hi", turn("hi", { model: "openai/gpt-5.2" })],
    ["/think low /model gpt-5.2 go", turn("go", { thinking: "low", model: "openai/gpt-5.2" })],
    [
      "/model gpt-5.2 /think max",
      { kind: "choose", name: "model", choice: { model: "openai/gpt-5.2", thinking: "max" } },
    ],
    ["/glance notes.md", { kind: "dispatch", command: GLANCE, args: "notes.md" }],
    ["/skill glance notes.md", { kind: "dispatch", command: GLANCE, args: "notes.md" }],
    ["/skill", { kind: "command", name: "skill", args: "" }],
    ["/skill nothing", { kind: "command", name: "skill", args: "nothing" }],
  ])("%j", (text, order) => {
    expect(read(text)).toEqual(order);
  });

  it("turns a skill's command into a prompt for the agent", () => {
    const order = read("/weather Shanghai");
    expect(order).toMatchObject({ kind: "turn", choice: {}, fresh: false });
    expect(order?.kind === "turn" && order.text).toMatch(/weather[\s\S]*Shanghai/);
    expect(read("/think high /weather Shanghai")).toMatchObject({
      kind: "turn",
      choice: { thinking: "high" },
    });
  });

  it("starts a run if the message consists of a file", () => {
    const media: MessageEvent["media"] = [{ kind: "image", ref: "r1", mimeType: "image/png" }];
    const withPicture = (text: string) => read(text, "owner", { media });
    expect(withPicture("/new")).toEqual(turn("", {}, true));
    expect(withPicture("/think high")).toEqual(turn("", { thinking: "high" }));
    expect(withPicture("/model gpt-5.2 /think max")).toEqual(
      turn("", { model: "openai/gpt-5.2", thinking: "max" }),
    );
    expect(withPicture("/think")).toEqual({ kind: "command", name: "think", args: "" });
  });

  it("is ignored in a group unless the bot was addressed, and in forwarded messages", () => {
    const group = { conversation: { id: "g", kind: "group" as const } };
    expect(read("/stop", "owner", { ...group, addressed: "none" })).toBeUndefined();
    expect(read("/stop", "owner", { ...group, addressed: "mention" })).toMatchObject({ name: "stop" });
    expect(read("/stop", "owner", { ...group, addressed: "reply" })).toMatchObject({ name: "stop" });
    expect(read("/approve ABCD2345 allow", "owner", { forwarded: {} })).toBeUndefined();
  });
});

describe("permission to use a command", () => {
  const members = "answer help new queue reset skill speech status stop usage why whoami".split(" ");
  /** Platforms send it for people; no list contains it. */
  const unlisted = ["start"];

  it("follows the table: owners all, members harmless ones, guests those that answer their question", () => {
    const allowed = (role: Role) =>
      Object.keys(COMMANDS).filter((name) => isCommandName(name) && mayUseCommand(name, role));
    expect(allowed("owner").toSorted()).toEqual(Object.keys(COMMANDS).toSorted());
    expect(allowed("member").toSorted()).toEqual([...members, ...unlisted].toSorted());
    expect(allowed("guest").toSorted()).toEqual(["answer", ...unlisted]);
  });

  it("is checked before anything else of the command, including directives and skills", () => {
    for (const text of ["/model", "/model gpt-5.2 hi", "/think high", "/compact", "/approve ABCD2345 allow"])
      expect(read(text, "member")).toMatchObject({ kind: "refused" });
    for (const text of ["/new", "/new hello", "/weather here", "/glance x", "/skill glance x", "/help"])
      expect(read(text, "guest")).toMatchObject({ kind: "refused" });
  });

  it("is what /help shows", () => {
    const shown = (role: Role) =>
      [...helpText(phrasesIn("en"), role, [WEATHER]).matchAll(/^\/(\w+)/gm)].flatMap(
        ([, name]) => name ?? [],
      );
    expect(shown("member").toSorted()).toEqual([...members, "weather"].toSorted());
    expect(shown("owner")).toHaveLength(Object.keys(COMMANDS).length - unlisted.length + 1);
    expect(shown("guest")).toEqual(["answer"]);
  });
});
