import { describe, expect, it } from "vitest";
import { assistant, user } from "../../test/scripted.ts";
import type { AgentMessage } from "../messages.ts";
import { convertToLlm } from "./convert.ts";

describe("convertToLlm", () => {
  it("passes on the vendors' own roles as they are", () => {
    const result = {
      role: "toolResult",
      toolCallId: "a",
      toolName: "t",
      content: [],
      isError: false,
      timestamp: 1,
    } as const;
    for (const message of [user("x"), assistant("y"), result]) expect(convertToLlm(message)).toBe(message);
  });

  it("puts the context before the text, in the same object each time", () => {
    const said = { ...user("And today?"), context: "Ann wrote on Monday" };
    const told = convertToLlm(said);
    expect(told).toEqual({ ...user("And today?"), content: "Ann wrote on Monday\n\nAnd today?" });
    expect(convertToLlm(said)).toBe(told);
    const parts = convertToLlm({ ...said, content: [{ type: "text", text: "And today?" }] });
    expect(parts.content).toEqual([
      { type: "text", text: "Ann wrote on Monday" },
      { type: "text", text: "And today?" },
    ]);
  });

  it.each<[AgentMessage, string]>([
    [
      { role: "shellRun", command: "ls -l", output: "total 0", exitCode: 0, timestamp: 5 },
      "The user ran a command (exit code 0):\n```\n$ ls -l\ntotal 0\n```",
    ],
    [
      { role: "shellRun", command: "sleep 9", output: "", exitCode: undefined, timestamp: 5 },
      "The user ran a command (ended by a signal):\n```\n$ sleep 9\n\n```",
    ],
    [
      { role: "branchSummary", summary: "They chose B.", timestamp: 5 },
      "This conversation was also continued elsewhere. What happened there, in short:\n\nThey chose B.",
    ],
    [
      { role: "compactionSummary", summary: "They met.", replaced: 4, timestamp: 5 },
      "The earlier part of this conversation was replaced by this summary:\n\nThey met.",
    ],
    [{ role: "custom", kind: "reminder", content: "Lunch!", details: { at: 12 }, timestamp: 5 }, "Lunch!"],
  ])("converts %j to a user message", (message, content) => {
    expect(convertToLlm(message)).toEqual({ role: "user", content, timestamp: 5 });
  });
});
