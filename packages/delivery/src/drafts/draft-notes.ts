import type { JsonValue } from "@signalbox/store/types";
import type { DraftReference } from "../outbox.ts";

/** Stores where a run's answer is shown, so that the process that resumes the run finds its messages. */
export interface AnswerNotes {
  get(runId: string): Promise<AnswerNote | undefined>;
  set(runId: string, note: AnswerNote): Promise<void>;
  delete(runId: string): Promise<void>;
}

export interface AnswerNote {
  /** The draft that shows the end of the answer. Written before the draft exists. */
  readonly current?: DraftNote;
  /** The completed messages. The last one may not be in the outbox yet. */
  readonly segments: readonly Segment[];
}

export interface DraftNote {
  /** Until this time, the platform resolves the draft's key to the same message. */
  readonly until: number;
  readonly messageId?: string;
}

/** A piece of an answer that a question interrupts, with a separate message. */
export interface Segment {
  /** Empty if the draft must be removed. */
  readonly text: string;
  /** The draft that becomes the message. */
  readonly draft?: DraftReference;
}

/** Parses a stored note; `undefined` if it is not one. */
export function parseAnswerNote(value: JsonValue | undefined): AnswerNote | undefined {
  if (!isRecord(value) || !Array.isArray(value["segments"])) return undefined;
  const current = parseDraftNote(value["current"]);
  const segments = value["segments"].flatMap(parseSegment);
  return current === undefined ? { segments } : { current, segments };
}

/** Returns the value to store for a note. */
export function toNoteValue({ current, segments }: AnswerNote): JsonValue {
  return {
    ...(current === undefined ? {} : { current: toDraftValue(current) }),
    segments: segments.map(({ text, draft }) =>
      draft === undefined ? { text } : { text, draft: { key: draft.key, ...toDraftValue(draft) } },
    ),
  };
}

function toDraftValue({ until, messageId }: DraftNote): { readonly [name: string]: JsonValue } {
  return messageId === undefined ? { until } : { until, messageId };
}

function parseDraftNote(value: JsonValue | undefined): DraftNote | undefined {
  if (!isRecord(value)) return undefined;
  const { until, messageId } = value;
  if (typeof until !== "number") return undefined;
  return { until, messageId: typeof messageId === "string" ? messageId : undefined };
}

function parseSegment(value: JsonValue): Segment[] {
  if (!isRecord(value) || typeof value["text"] !== "string") return [];
  const { text, draft } = value;
  const note = parseDraftNote(draft);
  const key = isRecord(draft) ? draft["key"] : undefined;
  return [note === undefined || typeof key !== "string" ? { text } : { text, draft: { key, ...note } }];
}

function isRecord(value: JsonValue | undefined): value is { readonly [name: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
