import type { AgentEvent } from "@signalbox/agent-core";
import { createGauges, type Gauges } from "./gauges.ts";
import { watchModelTurns } from "./model-watch.ts";
import type { PrometheusMetrics } from "./prometheus-metrics.ts";
import { defineSeries, type Series } from "./series.ts";

/** Stages of the message pipeline whose processing time is measured, without waiting times. */
export type TimedStage = "route" | "accept" | "prepare" | "conclude" | "deliver";

/** Tokens and cost of one model in a run. */
export interface TokenUsage {
  /** For instance `anthropic/claude-opus-4-5`. */
  readonly model: string;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** Millionths of a US dollar. Absent if the price is unknown. */
  readonly costMicros?: number;
}

/** Prometheus metrics of the message pipeline. Times are passed in milliseconds and published in seconds. */
export interface Metrics {
  /** Counts an inbound message by its admission decision. */
  received(channel: string, decision: string): void;
  /** Counts a sent reply. */
  replied(channel: string): void;
  /**
   * @param models usage of each model that the run called
   * @param reason code of the error with which the run ended, if any
   */
  runEnded(agent: string, outcome: string, models: readonly TokenUsage[], reason?: string): void;
  toolCalled(tool: string, outcome: string): void;
  /**
   * Counts a budget that is nearly or fully used, and calls that were refused or used a cheaper model because of it.
   */
  budgetNews(budget: string, kind: string): void;
  /** Counts a refused HTTP request by entry point and status. */
  refused(door: string, status: number): void;
  /** Runs the work of a stage and records its duration, even if it fails. */
  timed<T>(stage: TimedStage, work: () => T | Promise<T>): Promise<T>;
  /** Records the time between acceptance and the run. */
  queued(waitedMs: number): void;
  /** Counts an outcome of a delivery. */
  delivered(channel: string, outcome: string): void;
  /** Counts a lease that was taken from a node that did not renew it. */
  tookOver(kind: string): void;
  /** Records the age of a reply when its platform accepted it. */
  sent(channel: string, ageMs: number): void;
  /** Returns a listener to the events of a run, which measures the model's latency. */
  watchModel(model: string): (event: AgentEvent) => void;
  /** Loads prom-client, which takes about 20 ms, before the first message needs it. */
  load(): Promise<void>;
  /** Returns the metrics for another system. */
  collect(gauges: Gauges): Promise<PrometheusMetrics>;
  /** Returns the response for `/metrics`. */
  scrape(gauges: Gauges): Promise<{ readonly contentType: string; readonly body: string }>;
}

export interface MetricsOptions {
  /** Version of the program, published as `signalbox_build_info`. */
  readonly version: string;
  /** Monotonic clock in milliseconds. Default `performance.now`. */
  readonly clock?: () => number;
}

/** Creates the metrics. prom-client is loaded by the first record or by `load`; earlier records are buffered. */
export function createMetrics({ version, clock = () => performance.now() }: MetricsOptions): Metrics {
  const { record, loaded } = createRecorder(version);
  const toolLabel = createToolLabels();
  return {
    received: (channel, decision) => record(({ messages }) => messages.inc({ channel, decision })),
    replied: (channel) => record(({ replies }) => replies.inc({ channel })),
    runEnded: (agent, outcome, models, reason) =>
      record(({ runs, failures, tokens, cost }) => {
        runs.inc({ agent, outcome });
        if (reason !== undefined) failures.inc({ agent, reason });
        for (const { model, inputTokens, cachedTokens, outputTokens, costMicros = 0 } of models) {
          tokens.inc({ agent, model, kind: "input" }, inputTokens);
          tokens.inc({ agent, model, kind: "cached" }, cachedTokens);
          tokens.inc({ agent, model, kind: "output" }, outputTokens);
          cost.inc({ agent, model }, costMicros);
        }
      }),
    toolCalled(name, outcome) {
      const tool = toolLabel(name, outcome);
      record(({ toolCalls }) => toolCalls.inc({ tool, outcome }));
    },
    budgetNews: (budget, kind) => record(({ budgetNews }) => budgetNews.inc({ budget, kind })),
    refused: (door, status) => record(({ refusals }) => refusals.inc({ door, status: String(status) })),
    async timed(stage, work) {
      const started = clock();
      try {
        return await work();
      } finally {
        const seconds = (clock() - started) / 1000;
        record(({ stages }) => stages.observe({ stage }, seconds));
      }
    },
    queued: (waitedMs) => record(({ queueWait }) => queueWait.observe(waitedMs / 1000)),
    delivered: (channel, outcome) => record(({ deliveries }) => deliveries.inc({ channel, outcome })),
    tookOver: (kind) => record(({ takeovers }) => takeovers.inc({ kind })),
    sent: (channel, ageMs) => record(({ outboxAge }) => outboxAge.observe({ channel }, ageMs / 1000)),
    watchModel: (model) =>
      watchModelTurns(clock, (firstMs, wholeMs) =>
        record(({ modelFirst, modelTurn }) => {
          if (firstMs !== undefined) modelFirst.observe({ model }, firstMs / 1000);
          modelTurn.observe({ model }, wholeMs / 1000);
        }),
      ),
    async load() {
      await loaded();
    },
    async collect(gauges) {
      const { registry, setGauges } = await loaded();
      setGauges(gauges);
      return registry.getMetricsAsJSON();
    },
    async scrape(gauges) {
      const { registry, setGauges } = await loaded();
      setGauges(gauges);
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

interface Recorder {
  record(note: (series: Series) => void): void;
  loaded(): Promise<LoadedSeries>;
}

interface LoadedSeries extends Series {
  setGauges(gauges: Gauges): void;
}

function createRecorder(version: string): Recorder {
  let series: LoadedSeries | undefined;
  let loading: Promise<LoadedSeries> | undefined;
  /** Records from before prom-client was loaded. */
  const early: ((series: Series) => void)[] = [];

  const loaded = (): Promise<LoadedSeries> => {
    loading ??= import("prom-client").then((prometheus) => {
      const defined = defineSeries(prometheus, version);
      series = { ...defined, setGauges: createGauges(prometheus, defined.registry) };
      for (const note of early.splice(0)) note(series);
      return series;
    });
    return loading;
  };
  return {
    loaded,
    record(note) {
      if (series) {
        note(series);
        return;
      }
      early.push(note);
      // `scrape` reports a failed import.
      loaded().catch(() => {});
    },
  };
}

/** Maximum number of tools with their own series. Only tools that succeeded once get one, since models invent names. */
const MAX_TOOLS = 200;
const OTHER = "other";

function createToolLabels(): (tool: string, outcome: string) => string {
  const working = new Set<string>();
  return (tool, outcome) => {
    if (outcome === "ok" && working.size < MAX_TOOLS) working.add(tool);
    return working.has(tool) ? tool : OTHER;
  };
}
