import type { JsonValue, Millis } from "./common.ts";

/** What one stage did with a message. */
export interface TraceEntry {
  /** The stage: `intake`, `routing`, `prompt`, … */
  readonly stage: string;
  readonly data: JsonValue;
  /** Default: now. */
  readonly at?: Millis;
}

/** Explanations. Written with the next commit; losing the last of them to a crash loses no message. */
export interface TraceStore {
  /** `subject`: usually an inbox id. */
  append(subject: string, entries: readonly TraceEntry[]): Promise<void>;
  read(subject: string): Promise<readonly Required<TraceEntry>[]>;
}
