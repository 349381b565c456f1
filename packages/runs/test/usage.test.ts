import { type AssistantMessage, NO_USAGE } from "@signalbox/agent-core";
import { expect, it } from "vitest";
import { addRunUsage, sumUsage, toModelUsage } from "../src/index.ts";

const turn = (model: string, total: number): AssistantMessage => ({
  role: "assistant",
  content: [],
  api: "a",
  provider: "vendor",
  model,
  stopReason: "end_turn",
  usage: { ...NO_USAGE, input: { ...NO_USAGE.input, total }, costMicros: total },
  timestamp: 1,
});

it("sums a resumed run by model, so that the parts add up to the run", () => {
  const before = sumUsage([turn("large", 1), turn("small", 10)]);
  const used = addRunUsage(before, sumUsage([turn("large", 100)]));
  expect(used?.usage).toMatchObject({ input: { total: 111 }, costMicros: 111 });
  expect(used && toModelUsage(used)).toMatchObject([
    { model: "vendor/small", modelCalls: 1, inputTokens: 10, costMicros: 10 },
    { model: "vendor/large", modelCalls: 2, inputTokens: 101, costMicros: 101 },
  ]);
});
