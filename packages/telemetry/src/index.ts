export { failureEvent, failureNote, problemOf } from "./failure-note.ts";
export {
  formatLogLine,
  isAtLeast,
  LOG_LEVELS,
  type LogLevel,
  type LogLine,
  readLogLine,
} from "./log-line.ts";
export type { Gauges, StoreGauges } from "./metrics/gauges.ts";
export {
  createMetrics,
  type Metrics,
  type MetricsOptions,
  type TimedStage,
  type TokenUsage,
} from "./metrics/metrics.ts";
export type { PrometheusMetrics } from "./metrics/prometheus-metrics.ts";
export { type Explanation, explain } from "./traces/explain.ts";
export { ADMISSION_RULES, meaningOf, type RuleMeaning } from "./traces/rules.ts";
export { createTracer, packSections, type Tracer, type TraceStore, traceEntry } from "./traces/tracer.ts";
export { whyLines, withRouteExplained } from "./traces/why.ts";
export { visible, visibleJson, visibleLine } from "./visible.ts";
