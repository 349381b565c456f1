import { type AgentEvent, reasonOf } from "@signalbox/agent-core";
import type { Redact } from "@signalbox/redaction";
import type { PrometheusMetrics } from "@signalbox/telemetry";
import type { Logger } from "@signalbox/telemetry/logger";
import type { Otlp, TracedRun } from "@signalbox/telemetry/otlp";
import type { LiveConfig } from "./configure/live-config.ts";
import type { GatewayOptions } from "./gateway-options.ts";
import { VERSION } from "./version.ts";

interface OtlpExportOptions {
  readonly config: Pick<LiveConfig, "current">;
  readonly env: GatewayOptions["env"];
  /** Id of this node. */
  readonly node: string;
  readonly redact: Redact;
  readonly logger: Logger;
}

/** Traces and metrics for an OpenTelemetry collector. Does nothing if none is configured. */
export interface OtlpExport {
  /** Loads the SDK and starts the export. A failure is logged. */
  start(readMetrics: () => Promise<PrometheusMetrics>): Promise<void>;
  /** Returns a listener that traces the events of a run. */
  watchRun(run: TracedRun): (event: AgentEvent) => void;
  /** Exports what is pending. */
  stop(): Promise<void>;
}

export function createOtlpExport({ config, env, node, redact, logger }: OtlpExportOptions): OtlpExport {
  let otlp: Otlp | undefined;
  let isFailing = false;
  return {
    async start(readMetrics) {
      const settings = config.current().settings.telemetry.otlp;
      const endpoint = settings.endpoint ?? env["OTEL_EXPORTER_OTLP_ENDPOINT"];
      if (endpoint === undefined || endpoint === "" || env["OTEL_SDK_DISABLED"] === "true") return;
      try {
        // The SDK is large.
        const { startOtlp } = await import("@signalbox/telemetry/otlp");
        otlp = startOtlp({
          endpoint,
          headers: settings.headers,
          content: settings.content,
          version: VERSION,
          node,
          redact,
          readMetrics,
          onExport(error) {
            // One line for each outage.
            if (error !== undefined && !isFailing)
              logger.warn(
                { endpoint, err: redact(reasonOf(error)) },
                "traces or metrics could not be exported",
              );
            isFailing = error !== undefined;
          },
        });
        logger.info({ endpoint: redact(endpoint) }, "traces and metrics are exported");
      } catch (error) {
        logger.error(
          { err: redact(reasonOf(error)), remedy: "check telemetry.otlp and OTEL_EXPORTER_OTLP_ENDPOINT" },
          "the export of traces and metrics could not be started",
        );
      }
    },
    watchRun: (run) => otlp?.watchRun(run) ?? (() => {}),
    async stop() {
      await otlp?.stop();
    },
  };
}
