import type { Tracer as TracerOf } from "@signalbox/telemetry";

/** Notes about messages, by the stages they go through, in order. */
export type Tracer = TracerOf<
  "intake" | "routing" | "gate" | "lane" | "prompt" | "model" | "tool" | "reply" | "outbox"
>;
