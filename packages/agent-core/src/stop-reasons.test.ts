import { expect, it } from "vitest";
import {
  type AgentLoopConfig,
  type AssistantMessage,
  END_REASONS,
  getStopReason,
  type ModelErrorCode,
  runAgentLoop,
  STOP_REASONS,
  type StopReason,
} from "./index.ts";
import { assistantMessage, SCRIPTED_MODEL, scriptedModel, toolCall, userMessage } from "./test/index.ts";

const REASONS = Object.keys(STOP_REASONS) as StopReason[];
const ERROR: AssistantMessage["error"] = {
  code: "network",
  message: "no",
  retryable: false,
  emitted: true,
  scope: "model",
};

async function runOnce(turn: AssistantMessage, config: Partial<AgentLoopConfig> = {}) {
  let toolRuns = 0;
  const tool = {
    name: "t",
    description: "",
    inputSchema: { type: "object" },
    effects: "none" as const,
    execute: async () => {
      toolRuns++;
      return { content: [] };
    },
  };
  const { stream, requests } = scriptedModel(turn, "more");
  const result = await runAgentLoop(
    { system: { stable: "" }, history: [], input: [userMessage("go")], tools: [tool] },
    { model: SCRIPTED_MODEL, stream, continuations: 1, ...config },
    () => {},
  );
  return { result, toolRuns, requests: requests.length };
}

it.each(REASONS)("runs the loop as STOP_REASONS defines for %s", async (stopReason) => {
  const rule = STOP_REASONS[stopReason];
  const failed = rule.next === "fail" ? { error: ERROR } : {};
  const { result, requests } = await runOnce(assistantMessage("text ", { stopReason, ...failed }));
  const again = rule.next === "continue" || rule.next === "resume";
  expect(requests).toBe(again ? 2 : 1);
  expect(result.reason).toBe(rule.next === "fail" ? "error" : again ? "done" : rule.ends);
  expect(result.text).toBe(rule.text === "part" ? "text more" : "text ");
  const call = assistantMessage([toolCall("1", "t")], { stopReason, ...failed });
  expect((await runOnce(call)).toolRuns).toBe(rule.next === "tools" ? 1 : 0);
});

it.each(REASONS)("continues with a follow-up after %s only if END_REASONS allows it", async (stopReason) => {
  const { next, ends } = STOP_REASONS[stopReason];
  const failed = next === "fail" ? { error: ERROR } : {};
  const followUps = [userMessage("and then?", 2)];
  const turn = assistantMessage("text", { stopReason, ...failed });
  const { result } = await runOnce(turn, { continuations: 0, followUps: () => followUps.splice(0) });
  // A paused turn is resumed before the run can end.
  const continues = next === "resume" || END_REASONS[ends].continues;
  expect(result.messages.some(({ role, timestamp }) => role === "user" && timestamp === 2)).toBe(continues);
});

it.each<[ModelErrorCode, StopReason]>([
  ["overflow", "context_overflow"],
  ["aborted", "aborted"],
  ["network", "error"],
])("maps the error code %s to the stop reason %s", (code, stopReason) => {
  expect(getStopReason(code)).toBe(stopReason);
});
