import { z } from "zod";

export const telemetrySchema = z
  .strictObject({
    otlp: z
      .strictObject({
        endpoint: z
          .url({ protocol: /^https?$/ })
          .optional()
          .describe(
            "Base URL of an OpenTelemetry collector for OTLP over HTTP, such as `http://127.0.0.1:4318`. Default: the variable `OTEL_EXPORTER_OTLP_ENDPOINT`; without it, nothing is exported.",
          ),
        headers: z
          .record(z.string(), z.string())
          .optional()
          .describe(
            "Headers of each request, for instance with a key. Default: `OTEL_EXPORTER_OTLP_HEADERS`.",
          ),
        content: z
          .boolean()
          .default(false)
          .describe(
            "Adds the texts of agents, arguments and results of tools, and the keys of sessions to the traces. Known secrets are removed; personal data is not.",
          ),
      })
      .default({ content: false }),
  })
  .describe("Export of traces and metrics. Changes take effect at the next start.");
