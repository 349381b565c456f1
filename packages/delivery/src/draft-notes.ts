import type { Json } from "@signalbox/channel";
import type { Millis } from "./outbox.ts";

/** What is noted about a draft before it exists, so that the process that continues its run after a crash finds it. */
export interface DraftNotes {
  get(runId: string): Promise<DraftNote | undefined>;
  set(runId: string, note: DraftNote): Promise<void>;
  delete(runId: string): Promise<void>;
}

export interface DraftNote {
  /** Until then the draft's key leads to the same message. */
  readonly until: Millis;
  readonly messageId?: string;
}

/** A note as it was stored, where it is one. */
export function draftNote(value: Json | undefined): DraftNote | undefined {
  if (typeof value !== "object" || value === null || !("until" in value)) return undefined;
  const { until, messageId } = value;
  if (typeof until !== "number") return undefined;
  return { until, ...(typeof messageId === "string" ? { messageId } : {}) };
}
