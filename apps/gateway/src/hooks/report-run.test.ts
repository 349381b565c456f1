import type { AgentEvent } from "@signalbox/agent-core";
import { expect, it } from "vitest";
import { createGatewayHooks } from "./registry.ts";
import { createRunReporter } from "./report-run.ts";

const RUN = {
  agentId: "coder",
  sessionKey: "agent:coder:main",
  runId: "run",
  model: "vendor/model",
  messageIds: ["m1", "m2"],
  goesOn: false,
};

it("tells hooks what a run works on, which turn it is in, and when a summary is written", async () => {
  const told: unknown[] = [];
  const hooks = createGatewayHooks({
    own: [],
    hooks: [
      {
        point: "run_start",
        name: "run",
        run: (run) => void told.push(["run", run.messageIds, run.goesOn]),
      },
      { point: "turn_start", name: "turn", run: ({ runId, turn }) => void told.push([runId, turn]) },
      {
        point: "compaction_start",
        name: "before",
        run: ({ reason, tokens }) => void told.push([reason, tokens]),
      },
    ],
    configured: () => [],
    redact: (text) => text,
    logger: { error() {} },
  });
  const tell = createRunReporter(hooks, RUN);
  const events: readonly AgentEvent[] = [
    { type: "run.start" },
    { type: "turn.start", turn: 1 },
    { type: "compaction.start", reason: "threshold", tokens: 900 },
  ];
  for (const event of events) tell(event);
  await hooks.idle();
  expect(told).toEqual([
    ["run", ["m1", "m2"], false],
    ["run", 1],
    ["threshold", 900],
  ]);
});
