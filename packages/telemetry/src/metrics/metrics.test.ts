import type { AgentEvent, AssistantMessage } from "@signalbox/agent-core";
import { describe, expect, it } from "vitest";
import { createMetrics, type Gauges, type StoreGauges } from "../index.ts";

const STORE: StoreGauges = {
  inbox: { queued: 2 },
  outbox: { pending: 3, dead: 1 },
  oldestMessageMs: 1_500,
  oldestReplyMs: 90_000,
  databaseBytes: 4_096,
  pendingApprovals: 5,
  pendingPairings: 6,
  nodes: { up: 2, lost: 1 },
  seats: { agent: 4 },
  fencedWrites: 7,
  clockSkewMs: -250,
  latencyMs: 20,
  configurations: 2,
};
const IDLE: Gauges = { runsActive: 0, messagesWaiting: 0, outboxSending: 0, accounts: [], store: STORE };

function setup() {
  let now = 0;
  const metrics = createMetrics({ version: "1.2.3", clock: () => now });
  return {
    metrics,
    /** Lets that many milliseconds pass. */
    pass: (ms: number) => {
      now += ms;
    },
    async lines(name: string, gauges = IDLE) {
      const { body } = await metrics.scrape(gauges);
      return body.split("\n").filter((line) => line.startsWith(name));
    },
  };
}

describe("metrics", () => {
  it("count messages, replies, runs and tool calls", async () => {
    const { metrics, lines } = setup();
    const usage = {
      model: "vendor/large",
      inputTokens: 10,
      cachedTokens: 4,
      outputTokens: 3,
      costMicros: 123,
    };
    metrics.received("feishu", "answer");
    metrics.replied("feishu");
    metrics.runEnded("main", "replied", [usage]);
    metrics.runEnded("main", "replied", [usage, { ...usage, model: "vendor/small" }]);
    metrics.runEnded("main", "failed", [], "rate_limit");
    metrics.delivered("feishu", "dead");
    metrics.tookOver("agent");
    metrics.toolCalled("read", "ok");
    metrics.refused("channels", 401);
    metrics.refused("channels", 401);
    expect(await lines("signalbox_refused_requests_total")).toEqual([
      'signalbox_refused_requests_total{door="channels",status="401"} 2',
    ]);
    expect(await lines("signalbox_messages_total")).toEqual([
      'signalbox_messages_total{channel="feishu",decision="answer"} 1',
    ]);
    expect(await lines("signalbox_replies_total")).toEqual(['signalbox_replies_total{channel="feishu"} 1']);
    expect(await lines("signalbox_build_info")).toEqual(['signalbox_build_info{version="1.2.3"} 1']);
    expect(await lines("signalbox_runs_total")).toEqual([
      'signalbox_runs_total{agent="main",outcome="replied"} 2',
      'signalbox_runs_total{agent="main",outcome="failed"} 1',
    ]);
    expect(await lines("signalbox_run_failures_total")).toEqual([
      'signalbox_run_failures_total{agent="main",reason="rate_limit"} 1',
    ]);
    expect(await lines("signalbox_delivery_outcomes_total")).toEqual([
      'signalbox_delivery_outcomes_total{channel="feishu",outcome="dead"} 1',
    ]);
    expect(await lines("signalbox_takeovers_total")).toEqual(['signalbox_takeovers_total{kind="agent"} 1']);
    expect(await lines("signalbox_tokens_total")).toEqual([
      'signalbox_tokens_total{agent="main",model="vendor/large",kind="input"} 20',
      'signalbox_tokens_total{agent="main",model="vendor/large",kind="cached"} 8',
      'signalbox_tokens_total{agent="main",model="vendor/large",kind="output"} 6',
      'signalbox_tokens_total{agent="main",model="vendor/small",kind="input"} 10',
      'signalbox_tokens_total{agent="main",model="vendor/small",kind="cached"} 4',
      'signalbox_tokens_total{agent="main",model="vendor/small",kind="output"} 3',
    ]);
    expect(await lines("signalbox_cost_microdollars_total")).toEqual([
      'signalbox_cost_microdollars_total{agent="main",model="vendor/large"} 246',
      'signalbox_cost_microdollars_total{agent="main",model="vendor/small"} 123',
    ]);
    expect(await lines("signalbox_tool_calls_total")).toEqual([
      'signalbox_tool_calls_total{tool="read",outcome="ok"} 1',
    ]);
  });

  it("show current values in the format of their content type", async () => {
    const { metrics, lines } = setup();
    expect((await metrics.scrape(IDLE)).contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await lines("signalbox_runs_active", { ...IDLE, runsActive: 3 })).toEqual([
      "signalbox_runs_active 3",
    ]);
  });

  it("show the state of the store, of the nodes and of the accounts", async () => {
    const { lines } = setup();
    const accounts = [
      { channel: "feishu", account: "main", isUp: true },
      { channel: "slack", account: "team", isUp: false },
    ];
    const shown = await lines("signalbox_", { ...IDLE, accounts });
    for (const line of [
      'signalbox_account_up{channel="feishu",account="main"} 1',
      'signalbox_account_up{channel="slack",account="team"} 0',
      "signalbox_store_up 1",
      'signalbox_inbox_messages{state="queued"} 2',
      'signalbox_outbox_replies{state="dead"} 1',
      "signalbox_inbox_oldest_seconds 1.5",
      "signalbox_outbox_oldest_seconds 90",
      "signalbox_database_bytes 4096",
      "signalbox_approvals_pending 5",
      "signalbox_pairings_pending 6",
      'signalbox_nodes{state="lost"} 1',
      'signalbox_seats{kind="agent"} 4',
      "signalbox_fenced_writes_total 7",
      "signalbox_clock_skew_seconds -0.25",
      "signalbox_database_latency_seconds 0.02",
      "signalbox_configurations 2",
    ])
      expect(shown).toContain(line);
    const later = await lines("signalbox_", {
      ...IDLE,
      accounts: accounts.slice(1),
      store: { ...STORE, nodes: { up: 3 } },
    });
    expect(later.filter((line) => line.startsWith("signalbox_account_up"))).toHaveLength(1);
    expect(later).not.toContain('signalbox_nodes{state="lost"} 1');
  });

  it("are available while the store cannot be read", async () => {
    const { lines } = setup();
    expect(await lines("signalbox_store_up", { ...IDLE, store: undefined })).toEqual([
      "signalbox_store_up 0",
    ]);
  });

  it("show how long the event loop was blocked between two scrapes", async () => {
    const { lines } = setup();
    await lines("signalbox_event_loop");
    await new Promise((resolve) => setTimeout(resolve, 120));
    const until = performance.now() + 300;
    while (performance.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 120));
    const [line = ""] = await lines("signalbox_event_loop_lag_max_seconds");
    expect(Number(line.split(" ")[1])).toBeGreaterThan(0.2);
  });

  it("have series only for a limited number of tools that succeeded", async () => {
    const { metrics, lines } = setup();
    metrics.toolCalled("made_up", "error");
    for (let index = 0; index < 1_000; index++) metrics.toolCalled(`tool${index}`, "ok");
    const series = await lines("signalbox_tool_calls_total");
    expect(series).toContain('signalbox_tool_calls_total{tool="other",outcome="error"} 1');
    expect(series).toContain('signalbox_tool_calls_total{tool="other",outcome="ok"} 800');
    expect(series).toHaveLength(202);
  });

  it("time all stages, including failing ones", async () => {
    const { metrics, pass, lines } = setup();
    await metrics.timed("prepare", async () => pass(30));
    const failing = metrics.timed("prepare", async () => {
      pass(2_000);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    const series = await lines("signalbox_stage_duration_seconds");
    expect(series).toContain('signalbox_stage_duration_seconds_count{stage="prepare"} 2');
    expect(series).toContain('signalbox_stage_duration_seconds_bucket{le="1",stage="prepare"} 1');
  });

  it("show waiting times and ages", async () => {
    const { metrics, lines } = setup();
    metrics.queued(250);
    metrics.sent("feishu", 90_000);
    expect(await lines("signalbox_queue_wait_seconds_sum")).toEqual([
      "signalbox_queue_wait_seconds_sum 0.25",
    ]);
    expect(await lines("signalbox_outbox_age_seconds_sum")).toEqual([
      'signalbox_outbox_age_seconds_sum{channel="feishu"} 90',
    ]);
  });

  it("time a model call without the summary before it and the tools after it", async () => {
    const { metrics, pass, lines } = setup();
    const see = metrics.watchModel("p/m");
    const answer: AssistantMessage = {
      role: "assistant",
      content: [],
      api: "a",
      provider: "p",
      model: "m",
      stopReason: "end_turn",
      usage: {
        input: { total: 1, uncached: 1, cacheRead: 0, cacheWrite: 0 },
        output: { total: 1, reasoning: 0 },
        source: "reported",
      },
      timestamp: 0,
    };
    const turn = (first: number, rest: number): void => {
      const events: readonly (number | AgentEvent)[] = [
        { type: "turn.start", turn: 1 },
        first,
        { type: "block.start", index: 0, block: { type: "text" } },
        rest,
        { type: "message", message: answer, origin: "model" },
        60_000,
      ];
      for (const event of events) typeof event === "number" ? pass(event) : see(event);
    };
    turn(400, 600);
    turn(100, 1_900);
    expect(await lines("signalbox_model_first_output_seconds_sum")).toEqual([
      'signalbox_model_first_output_seconds_sum{model="p/m"} 0.5',
    ]);
    expect(await lines("signalbox_model_turn_duration_seconds_sum")).toEqual([
      'signalbox_model_turn_duration_seconds_sum{model="p/m"} 3',
    ]);
  });
});
