import type { ModelEvent } from "@signalbox/agent-core";
import { assistantMessage, SCRIPTED_MODEL } from "@signalbox/agent-core/test";
import { expect, it } from "vitest";
import { fakeContext } from "../../test/support/fake-context.ts";
import type { Agent } from "../configure/agents.ts";
import { runChecks } from "./checks.ts";

const AGENT: Agent = {
  id: "coder",
  name: "Coder",
  model: undefined,
  fallbacks: [],
  thinking: "off",
  systemPrompt: undefined,
  language: undefined,
  speech: "never",
  maxOutputTokens: undefined,
  historyTurns: undefined,
  workspaceDir: "/nowhere",
  shards: 1,
  shardId: "coder",
  nodes: undefined,
  tools: { allow: [], deny: [], domains: [], askModes: {} },
  skills: { allow: undefined, deny: [] },
  limits: {},
  subAgents: { maxDepth: 1, maxAtOnce: 1, maxTasks: 1, limits: {} },
  heartbeat: undefined,
};
const { provider, id: model } = SCRIPTED_MODEL;
const ABORTED: ModelEvent = {
  type: "error",
  error: {
    code: "aborted",
    message: "The request was aborted.",
    retryable: false,
    emitted: false,
    scope: "provider",
  },
  partial: assistantMessage(""),
};
const LIMITED: ModelEvent = {
  type: "attempt",
  failure: { provider, model, code: "rate_limit", message: "429: slow down" },
  next: { kind: "retry", provider, model, delayMs: 60_000 },
};

async function checked(...events: readonly ModelEvent[]): Promise<readonly string[]> {
  const models = {
    of: () => ({
      model: SCRIPTED_MODEL,
      async *stream() {
        yield* events;
      },
      fallbacks: [],
      demo: false,
    }),
  };
  const checks = await runChecks(
    fakeContext({
      accounts: { list: () => [], get: () => undefined },
      scheduled: { list: () => [] },
      config: { current: () => ({ agents: { all: [AGENT] }, models }) },
      now: () => 0,
    }),
    true,
  );
  return checks.map(({ detail }) => detail);
}

it("says what the vendor said last, or nothing, where a model's time is up", async () => {
  expect(await checked(LIMITED, ABORTED)).toEqual(["it does not answer: 429: slow down"]);
  expect(await checked(ABORTED)).toEqual(["it does not answer: no response within 15 s"]);
  expect(await checked({ type: "finish", message: assistantMessage("OK") })).toEqual(["it answers"]);
});
