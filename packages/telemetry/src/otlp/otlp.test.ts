import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AggregationTemporality, InMemoryMetricExporter } from "@opentelemetry/sdk-metrics";
import { InMemorySpanExporter, type ReadableSpan } from "@opentelemetry/sdk-trace";
import type { AgentEvent, AssistantMessage, RunResult, ToolResultMessage } from "@signalbox/agent-core";
import { expect, it, onTestFinished } from "vitest";
import { createMetrics, type Gauges } from "../index.ts";
import { type OtlpOptions, startOtlp, type TracedRun } from "./index.ts";

const RUN: TracedRun = {
  runId: "run-1",
  agentId: "main",
  sessionKey: "agent:main:feishu:direct:ou_zhang",
  channel: "feishu",
  provider: "google",
  model: "gemini-3-pro",
};
const WORDS = "Zhang's salary is sk-secret-0123456789";

const usage = {
  input: { total: 120, uncached: 20, cacheRead: 100, cacheWrite: 0 },
  output: { total: 30, reasoning: 0 },
  source: "reported",
} as const;
const answer = (more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text: WORDS }],
  api: "gemini",
  provider: "google",
  model: "gemini-3-pro-001",
  stopReason: "end_turn",
  responseId: "resp-1",
  usage,
  timestamp: 1,
  ...more,
});
const call = (id: string, name: string) =>
  ({ type: "toolCall", id, name, args: { path: WORDS } }) as unknown as Extract<
    AgentEvent,
    { type: "tool.end" }
  >["call"];
const toolEnd = (id: string, name: string, outcome: "ok" | "error"): AgentEvent => ({
  type: "tool.end",
  call: call(id, name),
  result: {
    role: "toolResult",
    toolCallId: id,
    toolName: name,
    content: [{ type: "text", text: WORDS }],
    isError: outcome !== "ok",
    timestamp: 1,
  } as ToolResultMessage,
  outcome,
  durationMs: 5,
});
const result = (more: Partial<RunResult> = {}): RunResult =>
  ({
    reason: "done",
    messages: [],
    message: undefined,
    text: WORDS,
    used: { usage, turns: 2, toolCalls: 2, models: [] },
    pending: [],
    ...more,
  }) as RunResult;

/** A run with a tool that works, one that fails, one that does not exist, and a turn that fails. */
const EVENTS: readonly AgentEvent[] = [
  { type: "run.start" },
  { type: "turn.start", turn: 1 },
  {
    type: "attempt",
    failure: { provider: "google", model: "gemini-3-pro", code: "rate_limit", message: WORDS },
  } as unknown as AgentEvent,
  { type: "message", message: answer({ stopReason: "tool_use" }), origin: "model" },
  { type: "tool.start", call: call("c1", "read"), args: { path: WORDS } },
  toolEnd("c1", "read", "ok"),
  { type: "tool.start", call: call("c2", "exec"), args: { path: WORDS } },
  toolEnd("c2", "exec", "error"),
  toolEnd("c3", WORDS, "error"),
  { type: "turn.start", turn: 2 },
  {
    type: "turn.end",
    turn: 2,
    message: answer({
      content: [],
      stopReason: "error",
      error: { code: "auth", message: WORDS },
    } as unknown as Partial<AssistantMessage>),
    results: [],
  },
  {
    type: "run.end",
    result: result({
      reason: "error",
      error: { code: "auth", message: WORDS },
    } as unknown as Partial<RunResult>),
  },
];

const GAUGES: Gauges = {
  runsActive: 3,
  messagesWaiting: 0,
  outboxSending: 0,
  accounts: [],
  store: undefined,
};

function openOptions(more: Partial<OtlpOptions> = {}): OtlpOptions {
  const metrics = createMetrics({ version: "1.2.3" });
  metrics.received("feishu", "answer");
  metrics.sent("feishu", 700);
  return {
    endpoint: "http://127.0.0.1:9",
    version: "1.2.3",
    node: "node-1",
    redact: (text) => text.replaceAll("sk-secret-0123456789", "[secret]"),
    readMetrics: () => metrics.collect(GAUGES),
    onExport: () => {},
    ...more,
  };
}

async function traceInMemory(content: boolean) {
  const spans = new InMemorySpanExporter();
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  let ended: readonly ReadableSpan[] = [];
  // The exporters forget everything at shutdown.
  spans.shutdown = async () => {
    ended = spans.getFinishedSpans().slice();
  };
  metrics.shutdown = async () => {};
  const otlp = startOtlp(openOptions({ content, exporters: { spans, metrics } }));
  const see = otlp.watchRun(RUN);
  for (const event of EVENTS) see(event);
  await otlp.stop();
  return { spans: ended, metrics: metrics.getMetrics() };
}

const named = (spans: readonly ReadableSpan[], name: string): ReadableSpan => {
  const span = spans.find((one) => one.name === name);
  if (span === undefined)
    throw new Error(`there is no span ${name} in ${spans.map((one) => one.name).join(", ")}`);
  return span;
};

it("a run has a span with one for each model turn and each executed tool below it", async () => {
  const { spans } = await traceInMemory(false);
  const root = named(spans, "invoke_agent main");
  expect(root.attributes).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.id": "main",
    "gen_ai.provider.name": "gcp.gemini",
    "gen_ai.request.model": "gemini-3-pro",
    "gen_ai.usage.input_tokens": 120,
    "gen_ai.usage.output_tokens": 30,
    "signalbox.run.id": "run-1",
    "error.type": "auth",
  });
  expect(root.status.code).toBe(2);
  expect(spans.map(({ name }) => name).toSorted()).toEqual([
    "chat gemini-3-pro",
    "chat gemini-3-pro",
    "execute_tool exec",
    "execute_tool read",
    "invoke_agent main",
  ]);
  for (const span of spans.filter((one) => one !== root)) {
    expect(span.parentSpanContext?.spanId).toBe(root.spanContext().spanId);
    expect(span.spanContext().traceId).toBe(root.spanContext().traceId);
  }
  const chat = named(spans, "chat gemini-3-pro");
  expect(chat.kind).toBe(2);
  expect(chat.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.response.model": "gemini-3-pro-001",
    "gen_ai.response.id": "resp-1",
    "gen_ai.response.finish_reasons": ["tool_use"],
    "gen_ai.usage.cache_read.input_tokens": 100,
  });
  expect(chat.events.map(({ attributes }) => attributes?.["error.type"])).toEqual(["rate_limit"]);
  expect(named(spans, "execute_tool exec").attributes).toMatchObject({ "error.type": "error" });
  expect(root.resource.attributes).toMatchObject({
    "service.name": "signalbox",
    "service.version": "1.2.3",
    "service.instance.id": "node-1",
  });
});

it("spans and metrics contain no text, person or error message by default", async () => {
  const { spans, metrics } = await traceInMemory(false);
  const exported = JSON.stringify([
    spans.map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
    metrics,
  ]);
  expect(exported).not.toMatch(/Zhang|salary|sk-secret|ou_zhang/);
});

it("texts are added on request, without known secrets", async () => {
  const { spans } = await traceInMemory(true);
  const read = named(spans, "execute_tool read").attributes;
  expect(read["gen_ai.tool.call.arguments"]).toBe(JSON.stringify({ path: "Zhang's salary is [secret]" }));
  expect(read["gen_ai.tool.call.result"]).toContain("Zhang's salary is [secret]");
  const chat = named(spans, "chat gemini-3-pro").attributes;
  expect(JSON.parse(String(chat["gen_ai.output.messages"]))).toMatchObject([{ role: "assistant" }]);
  expect(named(spans, "invoke_agent main").attributes["gen_ai.conversation.id"]).toBe(RUN.sessionKey);
  expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain("sk-secret");
});

it("metrics of the GenAI conventions and those of Prometheus are exported together", async () => {
  const { metrics } = await traceInMemory(false);
  const all = metrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  const find = (name: string) => all.filter(({ descriptor }) => descriptor.name === name).at(-1);
  const tokens = find("gen_ai.client.token.usage");
  expect(tokens?.dataPoints.map(({ attributes }) => attributes["gen_ai.token.type"])).toEqual([
    "input",
    "output",
  ]);
  const durations = find("gen_ai.client.operation.duration");
  expect(durations?.dataPoints.map(({ attributes }) => attributes["error.type"])).toEqual([
    undefined,
    "auth",
  ]);
  expect(find("signalbox_messages_total")?.dataPoints).toMatchObject([
    { attributes: { channel: "feishu", decision: "answer" }, value: 1 },
  ]);
  expect(find("signalbox_runs_active")?.dataPoints).toMatchObject([{ value: 3 }]);
  const age = find("signalbox_outbox_age_seconds");
  expect(age?.dataPoints).toMatchObject([
    { attributes: { channel: "feishu" }, value: { count: 1, sum: 0.7 } },
  ]);
  const { boundaries, counts } = Object(age?.dataPoints[0]?.value).buckets;
  expect(counts).toHaveLength(boundaries.length + 1);
  expect(counts[boundaries.indexOf(1)]).toBe(1);
  expect(counts.reduce((sum: number, count: number) => sum + count, 0)).toBe(1);
});

it("a collector receives traces and metrics over OTLP/HTTP with the configured headers", async () => {
  const received: { path: string; key: string; body: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      received.push({ path: request.url ?? "", key: String(request.headers["x-key"]), body });
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const outcomes: (Error | undefined)[] = [];
  const otlp = startOtlp(
    openOptions({
      endpoint: `http://127.0.0.1:${port}/`,
      headers: { "x-key": "abc" },
      onExport: (error) => outcomes.push(error),
    }),
  );
  const see = otlp.watchRun(RUN);
  for (const event of EVENTS) see(event);
  await otlp.stop();
  expect(received.map(({ path }) => path).toSorted()).toEqual(["/v1/metrics", "/v1/traces"]);
  expect(received.map(({ key }) => key)).toEqual(["abc", "abc"]);
  const bodies = received.map(({ body }) => body).join("\n");
  for (const name of [
    "invoke_agent main",
    "execute_tool read",
    "gen_ai.client.token.usage",
    "signalbox_messages_total",
  ])
    expect(bodies).toContain(name);
  expect(bodies).not.toMatch(/Zhang|salary|sk-secret/);
  expect(outcomes).toEqual([undefined, undefined]);
});

it("an unreachable collector is reported and delays nothing", async () => {
  const outcomes: (Error | undefined)[] = [];
  const server = createServer((_, response) => void response.writeHead(400).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const otlp = startOtlp(
    openOptions({ endpoint: `http://127.0.0.1:${port}`, onExport: (error) => outcomes.push(error) }),
  );
  const see = otlp.watchRun(RUN);
  for (const event of EVENTS) see(event);
  await otlp.stop();
  expect(outcomes.length).toBeGreaterThan(0);
  expect(outcomes.every((error) => error instanceof Error)).toBe(true);
});
