import type { Attributes, Meter } from "@opentelemetry/api";

/** Metrics of the GenAI conventions. */
export interface GenAiMetrics {
  /** @param ms duration of an operation in milliseconds */
  operationEnded(ms: number, attributes: Attributes): void;
  tokensUsed(type: "input" | "output", count: number, attributes: Attributes): void;
}

/** Bucket boundaries that the conventions recommend. */
const DURATION_BUCKETS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const TOKEN_BUCKETS = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];

export function createGenAiMetrics(meter: Meter): GenAiMetrics {
  const duration = meter.createHistogram("gen_ai.client.operation.duration", {
    unit: "s",
    description: "Duration of requests to models",
    advice: { explicitBucketBoundaries: DURATION_BUCKETS },
  });
  const tokens = meter.createHistogram("gen_ai.client.token.usage", {
    unit: "{token}",
    description: "Input and output tokens of requests to models",
    advice: { explicitBucketBoundaries: TOKEN_BUCKETS },
  });
  return {
    operationEnded: (ms, attributes) => duration.record(ms / 1000, attributes),
    tokensUsed: (type, count, attributes) =>
      tokens.record(count, { ...attributes, "gen_ai.token.type": type }),
  };
}
