export { type Otlp, type OtlpOptions, startOtlp } from "./otlp.ts";
export type { TracedRun } from "./run-spans.ts";
