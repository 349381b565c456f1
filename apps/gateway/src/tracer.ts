import type { Tracer as TracerOf } from "@signalbox/telemetry";

/** Records how the stages of the pipeline processed a message, using the names in the documentation. */
export type Tracer = TracerOf<
  "receive" | "admit" | "accept" | "queue" | "prepare" | "run" | "conclude" | "deliver"
>;
