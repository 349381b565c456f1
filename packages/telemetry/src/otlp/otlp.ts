import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import type { AgentEvent } from "@signalbox/agent-core";
import type { PrometheusMetrics } from "../metrics/prometheus-metrics.ts";
import { createGenAiMetrics } from "./gen-ai-metrics.ts";
import { createMetricProducer } from "./metric-producer.ts";
import { type TracedRun, watchRunSpans } from "./run-spans.ts";

/** Interval of the export of metrics, in milliseconds. */
const METRICS_INTERVAL_MS = 60_000;
/** Interval of the export of spans, in milliseconds. */
const SPANS_INTERVAL_MS = 5_000;
/** Time limit of one export, in milliseconds. */
const EXPORT_TIMEOUT_MS = 10_000;

export interface OtlpOptions {
  /** Base URL of the collector, such as `http://127.0.0.1:4318`. The paths `/v1/traces` and `/v1/metrics` are added. */
  readonly endpoint: string;
  /** Headers of each request. Default: those of the variable `OTEL_EXPORTER_OTLP_HEADERS`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** True adds texts of messages, arguments and results of tools, and the session to the spans. Default: false. */
  readonly content?: boolean | undefined;
  /** Version of the program. */
  readonly version: string;
  /** Id of this gateway. */
  readonly node: string;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
  /** Returns the metrics that are exported in addition to those of the GenAI conventions. */
  readonly readMetrics: () => Promise<PrometheusMetrics>;
  /** Called after each export, with the error if it failed. */
  readonly onExport: (error: Error | undefined) => void;
  readonly metricsIntervalMs?: number | undefined;
  readonly spansIntervalMs?: number | undefined;
  /** Replaces the exporters, for tests. */
  readonly exporters?: { readonly spans: SpanExporter; readonly metrics: PushMetricExporter } | undefined;
}

/** Export of traces and metrics over OTLP. */
export interface Otlp {
  /** Returns a listener to the events of a run, which creates its spans. */
  watchRun(run: TracedRun): (event: AgentEvent) => void;
  /** Exports what is pending. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Starts the export over OTLP/HTTP with the official SDK. Names of spans, metrics and attributes follow the semantic
 * conventions for generative AI of OpenTelemetry 1.41. Nothing is registered globally.
 */
export function startOtlp(options: OtlpOptions): Otlp {
  const { version, node, content = false, redact, exporters } = options;
  const resource = resourceFromAttributes({
    "service.name": "signalbox",
    "service.version": version,
    "service.instance.id": node,
  });
  const spanExporter = exporters?.spans ?? new ReportingSpanExporter(options);
  const metricExporter = exporters?.metrics ?? new ReportingMetricExporter(options);
  const tracers = new TracerProvider({
    resource,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: spanExporter,
        scheduledDelayMillis: options.spansIntervalMs ?? SPANS_INTERVAL_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  const intervalMs = options.metricsIntervalMs ?? METRICS_INTERVAL_MS;
  const meters = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: metricExporter,
        exportIntervalMillis: intervalMs,
        exportTimeoutMillis: Math.min(EXPORT_TIMEOUT_MS, intervalMs),
        metricProducers: [createMetricProducer(options.readMetrics, resource)],
      }),
    ],
  });
  const tracer = tracers.getTracer("signalbox", version);
  const metrics = createGenAiMetrics(meters.getMeter("signalbox", version));
  return {
    watchRun: (run) => watchRunSpans(run, { tracer, metrics, content, redact }),
    async stop() {
      await Promise.allSettled([tracers.shutdown(), meters.shutdown()]);
    },
  };
}

class ReportingSpanExporter extends OTLPTraceExporter {
  readonly #onExport: OtlpOptions["onExport"];

  constructor(options: OtlpOptions) {
    super(exporterConfig(options, "traces"));
    this.#onExport = options.onExport;
  }

  override export(...[spans, done]: Parameters<OTLPTraceExporter["export"]>): void {
    super.export(spans, (result) => {
      this.#onExport(result.code === SUCCESS ? undefined : toError(result.error));
      done(result);
    });
  }
}

class ReportingMetricExporter extends OTLPMetricExporter {
  readonly #onExport: OtlpOptions["onExport"];

  constructor(options: OtlpOptions) {
    super(exporterConfig(options, "metrics"));
    this.#onExport = options.onExport;
  }

  override export(...[metrics, done]: Parameters<OTLPMetricExporter["export"]>): void {
    super.export(metrics, (result) => {
      this.#onExport(result.code === SUCCESS ? undefined : toError(result.error));
      done(result);
    });
  }
}

/** `ExportResultCode.SUCCESS`. */
const SUCCESS = 0;

function toError(error: Error | undefined): Error {
  return error ?? new Error("the collector could not be reached");
}

function exporterConfig({ endpoint, headers }: OtlpOptions, signal: "traces" | "metrics") {
  const url = `${endpoint.replace(/\/+$/, "")}/v1/${signal}`;
  return {
    url,
    timeoutMillis: EXPORT_TIMEOUT_MS,
    headers: headers === undefined ? undefined : { ...headers },
  };
}
