import { defineTool } from "@signalbox/agent-core";
import { describe, expect, it } from "vitest";
import {
  argumentsOf,
  listedCommands,
  modelText,
  queueText,
  type StatusFacts,
  skillsText,
  statusText,
  stoppedText,
  thinkText,
  usageText,
  whoamiText,
} from "../src/index.ts";

const agent = { id: "coder", name: "Coder" };
const STATUS: StatusFacts = {
  version: "1.2.3",
  agent,
  model: "openai/gpt-5.2",
  thinking: "off",
  sessionKey: "s",
  upMs: 3 * 3_600_000 + 60_000,
  messages: 4,
  isRunning: false,
  waiting: 0,
  queueMode: "steer",
};

describe("what commands say", () => {
  it("/status: what goes on, and to owners what waits for them", () => {
    expect(statusText(STATUS).split("\n")).toEqual([
      "Signalbox 1.2.3, up for 3 h 1 min.",
      "Agent: Coder (coder), model openai/gpt-5.2, thinking off.",
      "Conversation: 4 messages, s.",
      "Now: nothing runs, 0 waiting, queue mode steer.",
    ]);
    const busy = statusText({ ...STATUS, isRunning: true, forOwner: { calls: 2, skills: 0 } });
    expect(busy).toMatch(/a turn runs[\s\S]*2 tool calls wait for an approval: \/approve$/);
  });

  it.each([
    [500, "0 s"],
    [59_999, "59 s"],
    [60_000, "1 min"],
    [47 * 3_600_000, "47 h 0 min"],
    [72 * 3_600_000, "3 days"],
  ])("/status: after %d ms it is up for %s", (upMs, words) => {
    expect(statusText({ ...STATUS, upMs })).toContain(`up for ${words}.`);
  });

  it("/whoami: who speaks, by which rule, and where", () => {
    const facts = { speaker: "feishu:ou_1", role: "owner", rule: "owner", agent, sessionKey: "s" } as const;
    expect(whoamiText({ ...facts, conversation: { id: "g", kind: "group" } })).toBe(
      "You are feishu:ou_1, an owner (owner).\nYou talk to Coder (coder) in the group g.\nConversation: s",
    );
    const guest = { ...facts, role: "guest", conversation: { id: "x", kind: "direct" } } as const;
    expect(whoamiText(guest)).toMatch(/a guest[\s\S]*a direct chat/);
  });

  it("/stop: whether there was anything, and what was dropped", () => {
    expect(stoppedText(false, 0)).toBe("Nothing was running.");
    expect(stoppedText(true, 1)).toBe("Stopped. 1 waiting message was dropped.");
    expect(stoppedText(true, 2)).toBe("Stopped. 2 waiting messages were dropped.");
  });

  it("/usage: exact, to the last millionth, and nothing where nothing was used", () => {
    const used = {
      modelCalls: 2,
      inputTokens: 12_345,
      cacheReadTokens: 10,
      outputTokens: 7,
      costMicros: 1_000_007,
    };
    expect(usageText(used)).toBe("12,345 tokens in (10 of them cached), 7 out, 2 model calls, $1.000007");
    expect(usageText()).toBe("0 tokens in (0 of them cached), 0 out, 0 model calls, $0.000000");
  });

  it("others: what holds, and what there is where something else was typed", () => {
    expect(queueText("steer", false, 0)).toBe("Queue mode: steer. 0 messages wait.");
    expect(queueText("collect", true, 2)).toBe(
      "Queue mode: collect (of this conversation). 2 messages wait.",
    );
    expect(modelText("openai/a", ["openai/a"], "b")).toMatch(
      /^There is no usable model b\.\nThere are:\n- openai\/a/,
    );
    expect(thinkText("low", "")).toMatch(/^Thinking: low\. There are: off, .*, default\.$/);
    expect(skillsText([], "x")).toBe("This agent has no skills.");
    expect(skillsText([{ name: "weather", description: "The weather." }], "wether now")).toBe(
      "There is no skill wether. There are:\n- weather: The weather.",
    );
  });

  it("menus of platforms have every command with one line", () => {
    for (const { name, description } of listedCommands()) {
      expect(name).toMatch(/^[a-z]+$/);
      expect(description).toMatch(/^[^\n]{1,100}$/);
    }
  });
});

describe("what is written after a command", () => {
  const tool = (properties: object, required: readonly string[] = []) =>
    defineTool({
      name: "t",
      description: "A tool.",
      effects: "none",
      execute: () => "",
      input: JSON.parse(JSON.stringify({ type: "object", properties, required })),
    });
  const text = { type: "string" };

  it("is the one text that a tool needs, or may have", () => {
    expect(argumentsOf(tool({ path: text, limit: { type: "number" } }, ["path"]), "a.md")).toEqual({
      path: "a.md",
    });
    expect(argumentsOf(tool({ note: text }), "hello")).toEqual({ note: "hello" });
    expect(argumentsOf(tool({ note: text }), "")).toEqual({});
  });

  it("calls no tool that needs something else", () => {
    expect(argumentsOf(tool({ a: text, b: text }, ["a", "b"]), "x")).toBeUndefined();
    expect(argumentsOf(tool({ mode: { type: "string", enum: ["on"] } }, ["mode"]), "on")).toBeUndefined();
    expect(argumentsOf(tool({ n: { type: "number" } }), "7")).toBeUndefined();
  });
});
