import type { JsonValue } from "@signalbox/store/types";

/** Stores the location of a draft before the draft exists, so that the process that resumes the run finds it. */
export interface DraftNotes {
  get(runId: string): Promise<DraftNote | undefined>;
  set(runId: string, note: DraftNote): Promise<void>;
  delete(runId: string): Promise<void>;
}

export interface DraftNote {
  /** Until this time, the platform resolves the draft's key to the same message. */
  readonly until: number;
  readonly messageId?: string;
}

/** Parses a stored note; `undefined` if it is not one. */
export function parseDraftNote(value: JsonValue | undefined): DraftNote | undefined {
  if (typeof value !== "object" || value === null || !("until" in value)) return undefined;
  const { until, messageId } = value;
  if (typeof until !== "number") return undefined;
  return { until, messageId: typeof messageId === "string" ? messageId : undefined };
}
