import { expect, it } from "vitest";
import { type AssistantMessage, runAgentLoop, STOP_REASONS, type StopReason } from "./index.ts";
import { assistantMessage, SCRIPTED_MODEL, scriptedModel, toolCall, userMessage } from "./test/index.ts";

const REASONS = Object.keys(STOP_REASONS) as StopReason[];
const ERROR: AssistantMessage["error"] = {
  code: "network",
  message: "no",
  retryable: false,
  emitted: true,
  scope: "model",
};

async function runOf(turn: AssistantMessage) {
  let ran = 0;
  const tool = {
    name: "t",
    description: "",
    inputSchema: { type: "object" },
    effects: "none" as const,
    execute: async () => {
      ran++;
      return { content: [] };
    },
  };
  const { stream, requests } = scriptedModel(turn, "more");
  const result = await runAgentLoop(
    { system: { stable: "" }, history: [], input: [userMessage("go")], tools: [tool] },
    { model: SCRIPTED_MODEL, stream, continuations: 1 },
    () => {},
  );
  return { result, ran, asked: requests.length };
}

it.each(REASONS)("the loop does what the table says of %s", async (stopReason) => {
  const rule = STOP_REASONS[stopReason];
  const failed = rule.next === "fail" ? { error: ERROR } : {};
  const { result, asked } = await runOf(assistantMessage("text ", { stopReason, ...failed }));
  const again = rule.next === "continue" || rule.next === "resume";
  expect(asked).toBe(again ? 2 : 1);
  expect(result.reason).toBe(rule.next === "fail" ? "error" : again ? "done" : rule.ends);
  expect(result.text).toBe(rule.text === "part" ? "text more" : "text ");
  const call = assistantMessage([toolCall("1", "t")], { stopReason, ...failed });
  expect((await runOf(call)).ran).toBe(rule.next === "tools" ? 1 : 0);
});
