import type { JsonValue, Millis } from "./common.ts";

/** A stage's record of how it processed a message. */
export interface TraceEntry {
  /** The stage: `receive`, `admit`, `accept`, … */
  readonly stage: string;
  readonly data: JsonValue;
  /** Default: now. */
  readonly at?: Millis;
}

/**
 * Stores traces. Entries are buffered and written in batches, so a crash may lose the latest entries, but no message.
 */
export interface TraceStore {
  /** @param subject usually an inbox id */
  append(subject: string, entries: readonly TraceEntry[]): Promise<void>;
  read(subject: string): Promise<readonly Required<TraceEntry>[]>;
}
