import { type AgentMessage, NO_USAGE, type RunResult } from "@signalbox/agent-core";
import { assistantMessage, toolCall, userMessage } from "@signalbox/agent-core/test";
import { describe, expect, it } from "vitest";
import { composeRunReply, type RepliedRun } from "../index.ts";

function ended(result: Partial<RunResult>, run: Partial<RepliedRun> = {}): RepliedRun {
  return {
    result: {
      reason: "done",
      messages: [],
      message: undefined,
      text: "",
      used: { usage: NO_USAGE, turns: 1, toolCalls: 0 },
      pending: [],
      ...result,
    },
    texts: [],
    alreadySent: [],
    carries: false,
    notes: {
      cutMark: "… (cut off at the model's output limit)",
      declined: "The model declined to answer.",
      limitReached: (limit) => `(Stopped: this run reached its limit of ${limit}.)`,
      repeated: "(Stopped: this run kept repeating the same step.)",
      waitsForApproval: "(Waiting for approval.)",
      unspoken: (tools) =>
        `(I have no answer: ${tools.join(", ")} did not work. Try again, or ask for something else.)`,
      failure: (code) => `(Failed: ${code}.)`,
    },
    ...run,
  };
}

function resultOf(toolName: string, isError: boolean): AgentMessage {
  return { role: "toolResult", toolCallId: toolName, toolName, content: [], isError, timestamp: 1 };
}

describe("a run's reply", () => {
  it("is the words of its turns, those left out that a tool has sent already", () => {
    const said = { texts: ["Looking.", "Found it."], alreadySent: ["Looking."] };
    expect(composeRunReply(ended({}, said))).toMatchObject({ text: "Found it.", silent: false });
  });

  it.each([
    [{ reason: "aborted" }, "Half."],
    [{ reason: "cut" }, "Half.\n\n… (cut off at the model's output limit)"],
    [{ reason: "limit", limit: "turns" }, "Half.\n\n(Stopped: this run reached its limit of turns.)"],
    [{ reason: "repeated" }, "Half.\n\n(Stopped: this run kept repeating the same step.)"],
    [{ reason: "waiting" }, "Half.\n\n(Waiting for approval.)"],
    [{ reason: "error" }, "Half.\n\n(Failed: undefined.)"],
    [{ reason: "refusal", text: "I would rather not." }, "Half."],
    [{ reason: "filter", text: " " }, "Half.\n\nThe model declined to answer."],
  ] as const)("says how the run ended where it did not simply end: %j", (result, text) => {
    expect(composeRunReply(ended(result, { texts: ["Half."] })).text).toBe(text);
  });
});

describe("a run that ended without a word", () => {
  const calls = assistantMessage([toolCall("a", "read"), toolCall("b", "exec")]);
  const messages = [
    userMessage("Go on."),
    assistantMessage([toolCall("c", "web_fetch")]),
    resultOf("web_fetch", true),
    calls,
    resultOf("read", true),
    resultOf("exec", true),
  ];

  it("names the tools that failed last", () => {
    expect(composeRunReply(ended({ messages }))).toMatchObject({
      text: "(I have no answer: read, exec did not work. Try again, or ask for something else.)",
      silent: false,
    });
  });

  it("is silent where the last tools worked", () => {
    const worked = [...messages.slice(0, -2), resultOf("read", false), resultOf("exec", false)];
    expect(composeRunReply(ended({ messages: worked }))).toMatchObject({ text: "", silent: true });
  });

  it("is silent where the model wanted it so, or its tool has spoken", () => {
    expect(composeRunReply(ended({ messages }, { texts: ["__SILENT__"] })).silent).toBe(true);
    expect(composeRunReply(ended({ messages }, { alreadySent: ["Done."] })).silent).toBe(true);
  });
});
