import { type AgentMessage, NO_USAGE, type RunResult } from "@signalbox/agent-core";
import { assistantMessage, toolCall, userMessage } from "@signalbox/agent-core/test";
import { describe, expect, it } from "vitest";
import { type CompletedRun, composeRunReply } from "./run-reply.ts";

function ended(result: Partial<RunResult>, run: Partial<CompletedRun> = {}): CompletedRun {
  return {
    result: {
      reason: "done",
      messages: [],
      message: undefined,
      text: "",
      used: { usage: NO_USAGE, turns: 1, toolCalls: 0, models: [] },
      pending: [],
      ...result,
    },
    texts: [],
    alreadySent: [],
    carries: false,
    awaited: true,
    notes: {
      cutMark: "… (cut off at the model's output limit)",
      declined: "The model declined to answer.",
      limitReached: (limit) => `(Stopped: this run reached its limit of ${limit}.)`,
      repeated: "(Stopped: this run kept repeating the same step.)",
      waitsForApproval: "(Waiting for approval.)",
      unspoken: (tools) =>
        `(I have no answer: ${tools.join(", ")} did not work. Try again, or ask for something else.)`,
      emptyAnswer: "(Empty.)",
      failure: (code) => `(Failed: ${code}.)`,
    },
    ...run,
  };
}

function createResult(toolName: string, isError: boolean): AgentMessage {
  return { role: "toolResult", toolCallId: toolName, toolName, content: [], isError, timestamp: 1 };
}

describe("composeRunReply", () => {
  it("joins the texts of the turns, except those that a tool has already sent", () => {
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

describe("the reply of a run without any text", () => {
  const calls = assistantMessage([toolCall("a", "read"), toolCall("b", "exec")]);
  const messages = [
    userMessage("Go on."),
    assistantMessage([toolCall("c", "web_fetch")]),
    createResult("web_fetch", true),
    calls,
    createResult("read", true),
    createResult("exec", true),
  ];

  it("names the tools whose last calls failed", () => {
    expect(composeRunReply(ended({ messages }))).toMatchObject({
      text: "(I have no answer: read, exec did not work. Try again, or ask for something else.)",
      silent: false,
    });
  });

  const worked = [...messages.slice(0, -2), createResult("read", false), createResult("exec", false)];

  it.each([
    ["the model wrote nothing", [userMessage("Go on.")], []],
    ["the last calls succeeded", worked, ["", ""]],
    ["the model wrote white space", [userMessage("Go on.")], [" \n\u00a0"]],
    ["the model wrote invisible characters", [userMessage("Go on.")], ["\u200b\u2800\u3164\ufeff"]],
  ])("says that the answer is empty if %s", (_, history, texts) => {
    expect(composeRunReply(ended({ messages: history }, { texts }))).toEqual({
      text: "(Empty.)",
      note: "(Empty.)",
      silent: false,
      empty: true,
    });
  });

  it("is silent, but marked as empty, if nobody waits for an answer", () => {
    const reply = composeRunReply(ended({ messages: worked }, { awaited: false }));
    expect(reply).toMatchObject({ text: "", silent: true, empty: true });
  });

  it.each<[string, Partial<RunResult>, Partial<CompletedRun>]>([
    ["the model chose so", { messages }, { texts: ["__SILENT__"] }],
    ["a tool has sent a message", { messages }, { alreadySent: ["Done."] }],
    ["a person stopped the run", { messages, reason: "aborted" }, {}],
    [
      "the agent has reacted to the message instead",
      {
        messages: [
          assistantMessage([toolCall("m", "message", { action: "react", message_id: "1", emoji: "+1" })]),
          { ...createResult("message", false), toolCallId: "m" } as AgentMessage,
        ],
      },
      {},
    ],
  ])("is silent if %s", (_, result, run) => {
    const reply = composeRunReply(ended(result, run));
    expect(reply.silent).toBe(true);
    expect(reply).not.toHaveProperty("empty");
  });
});
