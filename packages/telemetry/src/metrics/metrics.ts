import type { AgentEvent } from "@signalbox/agent-core";
import { watchModelTurns } from "./model-watch.ts";
import { defineSeries, type Series } from "./series.ts";

/** The stages of a message's way whose own time is measured; what they wait for is not in it. */
export type TimedStage = "route" | "accept" | "prepare" | "conclude" | "deliver";

/** What is the case at the moment of a scrape. */
export interface Gauges {
  readonly runsActive: number;
  readonly messagesWaiting: number;
  readonly outboxSending: number;
}

/** Tokens and money of a run. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** Millionths of a dollar; absent where no price is known. */
  readonly costMicros?: number;
}

/** Counts and times of a message's way, for Prometheus. Times are given in milliseconds and published in seconds. */
export interface Metrics {
  /** A message was taken, and it was decided about. */
  received(channel: string, decision: string): void;
  /** A reply is out. */
  replied(channel: string): void;
  runEnded(agent: string, outcome: string, usage: TokenUsage | undefined): void;
  toolCalled(tool: string, outcome: string): void;
  /** A budget runs low or is used up, or a call was not made, or of a cheaper model, because of it. */
  budgetNews(budget: string, kind: string): void;
  /** A request was refused at one of the ways in, with this HTTP status. */
  refused(door: string, status: number): void;
  /** Does the work of a stage and records how long it took, even if it fails. */
  timed<T>(stage: TimedStage, work: () => T | Promise<T>): Promise<T>;
  /** How long a message waited for its run. */
  queued(waitedMs: number): void;
  /** How old a reply was when its platform had taken it. */
  sent(channel: string, ageMs: number): void;
  /** A listener to the events of one run, for how long its model takes. */
  watchModel(model: string): (event: AgentEvent) => void;
  /** Loads the library, which costs some 20 ms, before the first message needs it. */
  load(): Promise<void>;
  /** What is served at `/metrics`. */
  scrape(gauges: Gauges): Promise<{ readonly contentType: string; readonly body: string }>;
}

export interface MetricsOptions {
  /** Of the program, told as `signalbox_build_info`. */
  readonly version: string;
  /** Milliseconds that only go up; default `performance.now`. */
  readonly clock?: () => number;
}

/** Prometheus' library is loaded with the first note, or by `load`; what is noted before is kept until then. */
export function createMetrics({ version, clock = () => performance.now() }: MetricsOptions): Metrics {
  const { record, loaded } = createRecorder(version);
  const toolLabel = createToolLabels();
  return {
    received: (channel, decision) => record(({ messages }) => messages.inc({ channel, decision })),
    replied: (channel) => record(({ replies }) => replies.inc({ channel })),
    runEnded: (agent, outcome, usage) =>
      record(({ runs, tokens, cost }) => {
        runs.inc({ agent, outcome });
        if (usage === undefined) return;
        tokens.inc({ agent, kind: "input" }, usage.inputTokens);
        tokens.inc({ agent, kind: "cached" }, usage.cachedTokens);
        tokens.inc({ agent, kind: "output" }, usage.outputTokens);
        cost.inc({ agent }, usage.costMicros ?? 0);
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
    async scrape(gauges) {
      const { registry, runsActive, messagesWaiting, outboxSending } = await loaded();
      runsActive.set(gauges.runsActive);
      messagesWaiting.set(gauges.messagesWaiting);
      outboxSending.set(gauges.outboxSending);
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

interface Recorder {
  record(note: (series: Series) => void): void;
  loaded(): Promise<Series>;
}

function createRecorder(version: string): Recorder {
  let series: Series | undefined;
  let loading: Promise<Series> | undefined;
  /** What was told before the library was there. */
  const early: ((series: Series) => void)[] = [];

  const loaded = (): Promise<Series> => {
    loading ??= import("prom-client").then((prometheus) => {
      series = defineSeries(prometheus, version);
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
      // Where it cannot be loaded, `scrape` says so.
      loaded().catch(() => {});
    },
  };
}

/** Models make names of tools up: only those that have worked get series of their own, and no more than these. */
const MAX_TOOLS = 200;
const OTHER = "other";

function createToolLabels(): (tool: string, outcome: string) => string {
  const working = new Set<string>();
  return (tool, outcome) => {
    if (outcome === "ok" && working.size < MAX_TOOLS) working.add(tool);
    return working.has(tool) ? tool : OTHER;
  };
}
