import type * as Prometheus from "prom-client";

export interface Series {
  readonly registry: Prometheus.Registry;
  readonly messages: Prometheus.Counter<"channel" | "decision">;
  readonly replies: Prometheus.Counter<"channel">;
  readonly runs: Prometheus.Counter<"agent" | "outcome">;
  readonly failures: Prometheus.Counter<"agent" | "reason">;
  readonly deliveries: Prometheus.Counter<"channel" | "outcome">;
  readonly takeovers: Prometheus.Counter<"kind">;
  readonly toolCalls: Prometheus.Counter<"tool" | "outcome">;
  readonly tokens: Prometheus.Counter<"agent" | "model" | "kind">;
  readonly cost: Prometheus.Counter<"agent" | "model">;
  readonly budgetNews: Prometheus.Counter<"budget" | "kind">;
  readonly refusals: Prometheus.Counter<"door" | "status">;
  readonly stages: Prometheus.Histogram<"stage">;
  readonly queueWait: Prometheus.Histogram;
  readonly modelFirst: Prometheus.Histogram<"model">;
  readonly modelTurn: Prometheus.Histogram<"model">;
  readonly outboxAge: Prometheus.Histogram<"channel">;
}

const STAGE_BUCKETS = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const MODEL_BUCKETS = [0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300];
const QUEUE_BUCKETS = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 1_800];
const OUTBOX_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200];

/**
 * Defines the series of a gateway in a new registry. Names follow the conventions of Prometheus; times are in seconds.
 */
export function defineSeries(
  { Counter, Gauge, Histogram, Registry }: typeof Prometheus,
  version: string,
): Series {
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

  describeProcess(registers, Gauge, version);
  return {
    registry,
    messages: counter("signalbox_messages_total", "Messages received, by decision", ["channel", "decision"]),
    replies: counter("signalbox_replies_total", "Replies delivered", ["channel"]),
    runs: counter("signalbox_runs_total", "Completed runs, by outcome", ["agent", "outcome"]),
    failures: counter("signalbox_run_failures_total", HELP.failures, ["agent", "reason"]),
    deliveries: counter("signalbox_delivery_outcomes_total", HELP.deliveries, ["channel", "outcome"]),
    takeovers: counter("signalbox_takeovers_total", HELP.takeovers, ["kind"]),
    toolCalls: counter("signalbox_tool_calls_total", "Completed tool calls, by outcome", ["tool", "outcome"]),
    tokens: counter("signalbox_tokens_total", HELP.tokens, ["agent", "model", "kind"]),
    cost: counter("signalbox_cost_microdollars_total", HELP.cost, ["agent", "model"]),
    budgetNews: counter("signalbox_budget_events_total", HELP.budgetNews, ["budget", "kind"]),
    refusals: counter("signalbox_refused_requests_total", HELP.refusals, ["door", "status"]),
    stages: histogram("signalbox_stage_duration_seconds", HELP.stages, ["stage"], STAGE_BUCKETS),
    queueWait: histogram(
      "signalbox_queue_wait_seconds",
      "Time from acceptance of a message to the start of its run",
      [],
      QUEUE_BUCKETS,
    ),
    modelFirst: histogram("signalbox_model_first_output_seconds", HELP.modelFirst, ["model"], MODEL_BUCKETS),
    modelTurn: histogram("signalbox_model_turn_duration_seconds", HELP.modelTurn, ["model"], MODEL_BUCKETS),
    outboxAge: histogram("signalbox_outbox_age_seconds", HELP.outboxAge, ["channel"], OUTBOX_BUCKETS),
  };
}

const HELP = {
  failures: "Runs that ended with an error, by its code",
  deliveries: "Outcomes of deliveries; a retry is counted once for each reason",
  takeovers: "Leases taken from nodes that did not renew them, since the start of this process",
  tokens: "Tokens used by completed runs",
  // Integers, since sums of fractional dollars are not exact.
  cost: "Cost of completed runs, in millionths of a US dollar",
  budgetNews: "Budget events: budgets nearly or fully used up, and calls downgraded or rejected as a result",
  refusals: "HTTP requests rejected because of their token, signature, origin or size",
  stages: "Time that each stage of the message pipeline takes, without the stages inside it",
  modelFirst: "Time from a model request to its first output, including retries",
  modelTurn: "Time from a model request to its complete answer or failure, including retries",
  outboxAge: "Age of replies at the time the platform accepted them",
};

function describeProcess(
  registers: Prometheus.Registry[],
  Gauge: (typeof Prometheus)["Gauge"],
  version: string,
): void {
  const build = {
    name: "signalbox_build_info",
    help: "Always 1; the label contains the running version",
    labelNames: ["version"],
  };
  new Gauge({ ...build, registers }).set({ version }, 1);
  const start = {
    name: "process_start_time_seconds",
    help: "Start time of the process, in seconds since the Unix epoch",
  };
  new Gauge({ ...start, registers }).set(performance.timeOrigin / 1000);
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory in bytes",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
}
