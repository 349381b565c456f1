import { describe, expect, it } from "vitest";
import { assistant, toolCall, usage, user } from "../test/scripted.ts";
import { AgentError, isAgentError } from "./errors.ts";
import { estimateTokens } from "./tokens.ts";
import { addModelUsage, addUsage, type ModelUsage, NO_USAGE } from "./usage.ts";

describe("estimateTokens", () => {
  it("counts a token per four Latin characters and per CJK character", () => {
    expect(estimateTokens("abcd".repeat(100))).toBe(100);
    expect(estimateTokens("中文字".repeat(100))).toBe(300);
    expect(estimateTokens("")).toBe(0);
  });

  it("samples long texts", () => {
    const mixed = `${"abcd".repeat(10_000)}${"中文".repeat(5_000)}`;
    expect(estimateTokens(mixed) / 20_000).toBeGreaterThan(0.9);
    expect(estimateTokens(mixed) / 20_000).toBeLessThan(1.1);
  });

  it("counts every kind of message, and a fixed number for each media block", () => {
    const image = {
      type: "image",
      mimeType: "image/png",
      source: { kind: "base64", data: "x".repeat(90_000) },
    } as const;
    expect(estimateTokens({ role: "user", content: [image], timestamp: 1 })).toBe(1_604);
    expect(
      estimateTokens([user("abcd"), assistant([toolCall("a", "read", { path: "xyz" })])]),
    ).toBeGreaterThan(10);
    expect(
      estimateTokens({ role: "shellRun", command: "ls", output: "abcd", exitCode: 0, timestamp: 1 }),
    ).toBe(10);
    const summary = { role: "compactionSummary", summary: "abcd", replaced: 2, timestamp: 1 } as const;
    expect(estimateTokens(summary)).toBe(9);
    const native = { api: "a", provider: "p", model: "m", data: { id: "x".repeat(400) } };
    expect(estimateTokens(assistant([{ type: "opaque", native }]))).toBeGreaterThan(100);
  });
});

describe("addUsage", () => {
  it("adds known counts and keeps unknown ones undefined", () => {
    const unknown = { ...NO_USAGE, source: "estimated" } as const;
    expect(addUsage(NO_USAGE, usage(3, 4, 5))).toEqual({ ...usage(3, 4, 5) });
    expect(addUsage(NO_USAGE, NO_USAGE)).toEqual(NO_USAGE);
    expect(addUsage(usage(3, 4), unknown)).toEqual({ ...usage(3, 4), source: "estimated" });
  });

  it("does not depend on how a session's turns are grouped", () => {
    const turns = [usage(1, 2, 3), usage(10, 20, 30), NO_USAGE, usage(100, 200)];
    const all = turns.reduce(addUsage);
    const grouped = addUsage(turns.slice(0, 2).reduce(addUsage), turns.slice(2).reduce(addUsage));
    expect(grouped).toEqual(all);
  });
});

describe("addModelUsage", () => {
  it("adds up each model of a provider, and moves the one that was called last to the end", () => {
    const of = (provider: string, model: string, total: number, turns = 1) => ({
      ...{ provider, model, turns },
      usage: usage(total, 1),
    });
    const called = [of("a", "m", 1), of("b", "m", 10), of("a", "n", 100), of("a", "m", 1_000, 0)];
    const models = called.reduce<readonly ModelUsage[]>(addModelUsage, []);
    expect(
      models.map(({ provider, model, turns, usage: { input } }) => [provider, model, turns, input.total]),
    ).toEqual([
      ["b", "m", 1, 10],
      ["a", "n", 1, 100],
      ["a", "m", 1, 1_001],
    ]);
  });
});

describe("isAgentError", () => {
  it("recognizes errors of another installed copy of the package", () => {
    const error = new AgentError("busy", "at work");
    expect(isAgentError(error)).toBe(true);
    expect(
      isAgentError(Object.assign(new Error("x"), { [Symbol.for("signalbox.agent-core.error")]: true })),
    ).toBe(true);
    for (const other of [new Error("x"), null, "busy", undefined]) expect(isAgentError(other)).toBe(false);
  });
});
