import type { Tracer as TracerOf } from "@signalbox/telemetry";

/** Records what the stages of the pipeline did with a message, under the names that the documentation uses. */
export type Tracer = TracerOf<
  "receive" | "admit" | "accept" | "queue" | "prepare" | "run" | "conclude" | "deliver"
>;
