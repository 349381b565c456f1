import type { AssistantMessage, ModelErrorData, ModelEvent } from "@signalbox/agent-core";
import { streamOf } from "@signalbox/agent-core";
import { readReady, readTurn } from "@signalbox/llm-providers/testkit";
import { expect, it } from "vitest";
import { withRedactedErrors } from "./model-errors.ts";

const SAID = "Incorrect API key provided: sk-live-1234.";
const error: ModelErrorData = {
  code: "auth",
  message: SAID,
  retryable: false,
  emitted: false,
  scope: "key",
  attempts: [{ provider: "a", model: "m", code: "auth", message: SAID }],
};
const partial: AssistantMessage = {
  role: "assistant",
  content: [],
  api: "a",
  provider: "a",
  model: "m",
  stopReason: "error",
  error,
  timestamp: 0,
};
const events: readonly ModelEvent[] = [
  {
    type: "attempt",
    failure: { provider: "a", model: "m", code: "auth", message: SAID },
    next: { kind: "key", provider: "a", model: "m", delayMs: 0 },
  },
  { type: "start", request: { api: "a", provider: "a", model: "m" }, warnings: [] },
  { type: "error", error, partial },
];
const model = {
  id: "m",
  provider: "a",
  api: "a",
  contextWindow: 1_000,
  maxOutputTokens: 100,
  input: [],
  thinking: [],
  tools: "none",
} as const;

it("redacts what vendors say of a failure, also for who takes the events that are ready", async () => {
  for (const read of [readTurn, readReady]) {
    const stream = withRedactedErrors(
      () => streamOf(events),
      (text) => text.replace(/sk-\S+/, "[key]"),
    );
    const turn = await read(stream(model, { system: { stable: "" }, messages: [], tools: [] }));
    expect(JSON.stringify(turn.events)).not.toContain("sk-live");
    expect(turn.error).toMatchObject({ message: "Incorrect API key provided: [key]" });
    expect(turn.events).toHaveLength(3);
  }
});
