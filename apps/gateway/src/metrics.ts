import type { AgentEvent } from "@signalbox/agent-core";
import type * as Prometheus from "prom-client";
import type { GatewayHook } from "./hooks/points.ts";
import { VERSION } from "./version.ts";

/** The stages of a message's way whose own time is measured; what they wait for is not in it. */
type TimedStage = "accept" | "prepare" | "conclude";

/** What is the case at the moment of a scrape. */
export interface Gauges {
  readonly runsActive: number;
  readonly messagesWaiting: number;
  readonly outboxSending: number;
}

/** Counts and times of a message's way, for Prometheus. Times are given in milliseconds and published in seconds. */
export interface Metrics {
  /** They count what the points of a message's way tell. */
  readonly hooks: readonly GatewayHook[];
  /** Does the work of a stage and notes how long it took, also where it fails. */
  timed<T>(stage: TimedStage, work: () => Promise<T>): Promise<T>;
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

/** Models make names of tools up: only those that have worked get series of their own, and no more than these. */
const MAX_TOOLS = 200;
const OTHER = "other";

const STAGE_BUCKETS = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const MODEL_BUCKETS = [0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300];
const QUEUE_BUCKETS = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 1_800];
const OUTBOX_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200];

/** @param clock milliseconds that only go up; default `performance.now` */
export function createMetrics(clock: () => number = () => performance.now()): Metrics {
  let series: Series | undefined;
  let loading: Promise<Series> | undefined;
  /** What was told before the library was there. */
  const early: ((series: Series) => void)[] = [];
  const workingTools = new Set<string>();

  const loaded = (): Promise<Series> => {
    loading ??= import("prom-client").then((prometheus) => {
      series = defineSeries(prometheus);
      for (const note of early.splice(0)) note(series);
      return series;
    });
    return loading;
  };

  const record = (note: (series: Series) => void): void => {
    if (series) {
      note(series);
      return;
    }
    early.push(note);
    // Where it cannot be loaded, `scrape` says so.
    loaded().catch(() => {});
  };

  const toolLabel = (tool: string, outcome: string): string => {
    if (outcome === "ok" && workingTools.size < MAX_TOOLS) workingTools.add(tool);
    return workingTools.has(tool) ? tool : OTHER;
  };

  return {
    hooks: [
      {
        point: "message_received",
        name: "count-messages",
        run: ({ event: { channel }, decision }) =>
          record(({ messages }) => messages.inc({ channel, decision })),
      },
      {
        point: "message_sent",
        name: "count-replies",
        run: ({ channel }) => record(({ replies }) => replies.inc({ channel })),
      },
      {
        point: "run_end",
        name: "count-runs",
        run: ({ outcome, usage }) =>
          record(({ runs, tokens }) => {
            runs.inc({ outcome });
            if (usage === undefined) return;
            tokens.inc({ kind: "input" }, usage.inputTokens);
            tokens.inc({ kind: "cached" }, usage.cachedTokens);
            tokens.inc({ kind: "output" }, usage.outputTokens);
          }),
      },
      {
        point: "after_tool_call",
        name: "count-tool-calls",
        run({ tool, outcome }) {
          const label = toolLabel(tool, outcome);
          record(({ toolCalls }) => toolCalls.inc({ tool: label, outcome }));
        },
      },
    ],
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
    watchModel(model) {
      return modelWatch(clock, (firstMs, wholeMs) =>
        record(({ modelFirst, modelTurn }) => {
          if (firstMs !== undefined) modelFirst.observe({ model }, firstMs / 1000);
          modelTurn.observe({ model }, wholeMs / 1000);
        }),
      );
    },
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

/** Measures each model turn of a run: from the request to the first word, and to the whole message. */
function modelWatch(
  clock: () => number,
  report: (firstMs: number | undefined, wholeMs: number) => void,
): (event: AgentEvent) => void {
  let asked: number | undefined;
  let first: number | undefined;
  return (event) => {
    switch (event.type) {
      case "turn.start":
      // What was summarised before was another request.
      case "compaction.end":
        asked = clock();
        first = undefined;
        return;
      case "block.start":
        if (asked !== undefined) first ??= clock() - asked;
        return;
      case "message":
      case "turn.end": {
        // A turn that fails without a word ends without a message.
        const answered = event.type === "turn.end" || event.origin === "model";
        if (asked === undefined || !answered) return;
        report(first, clock() - asked);
        asked = undefined;
        return;
      }
    }
  };
}

type Series = ReturnType<typeof defineSeries>;

function defineSeries({ Counter, Gauge, Histogram, Registry }: typeof Prometheus) {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    buckets: number[],
  ) => new Histogram({ name, help, labelNames, buckets, registers });
  const gauge = (name: string, help: string, collect?: (this: Prometheus.Gauge) => void) =>
    new Gauge({ name, help, registers, ...(collect === undefined ? {} : { collect }) });

  new Gauge({
    name: "signalbox_build_info",
    help: "1, with the version that runs",
    labelNames: ["version"],
    registers,
  }).set({ version: VERSION }, 1);
  gauge("process_start_time_seconds", "Start of the process, in seconds since the epoch").set(
    performance.timeOrigin / 1000,
  );
  gauge("process_resident_memory_bytes", "Resident memory", function () {
    this.set(process.memoryUsage.rss());
  });
  return {
    registry,
    runsActive: gauge("signalbox_runs_active", "Runs going on"),
    messagesWaiting: gauge("signalbox_messages_waiting", "Messages that wait for a run"),
    outboxSending: gauge("signalbox_outbox_sending", "Replies being sent"),
    messages: counter("signalbox_messages_total", "Messages taken, by what the gate decided", [
      "channel",
      "decision",
    ]),
    replies: counter("signalbox_replies_total", "Replies that are out", ["channel"]),
    runs: counter("signalbox_runs_total", "Runs that ended, by how", ["outcome"]),
    toolCalls: counter("signalbox_tool_calls_total", "Tool calls that have a result", ["tool", "outcome"]),
    tokens: counter("signalbox_tokens_total", "Tokens of runs that ended", ["kind"]),
    stages: histogram(
      "signalbox_stage_duration_seconds",
      "What a stage of a message's way took of itself",
      ["stage"],
      STAGE_BUCKETS,
    ),
    queueWait: histogram("signalbox_queue_wait_seconds", "From acceptance to the run", [], QUEUE_BUCKETS),
    modelFirst: histogram(
      "signalbox_model_first_output_seconds",
      "From a model's request to its first output, retries included",
      ["model"],
      MODEL_BUCKETS,
    ),
    modelTurn: histogram(
      "signalbox_model_turn_duration_seconds",
      "From a model's request to its whole answer or its failure, retries included",
      ["model"],
      MODEL_BUCKETS,
    ),
    outboxAge: histogram(
      "signalbox_outbox_age_seconds",
      "Age of replies when their platform had taken them",
      ["channel"],
      OUTBOX_BUCKETS,
    ),
  };
}
