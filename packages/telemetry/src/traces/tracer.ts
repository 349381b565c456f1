import type { TraceEntry } from "@signalbox/protocol";

/** A JSON value. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** The part of a store that keeps traces. */
export interface TraceStore {
  append(subject: string, entries: readonly { readonly stage: string; readonly data: Json }[]): Promise<void>;
}

/** Records what each stage did with a message. */
export interface Tracer<Stage extends string = string> {
  note(messageId: string, stage: Stage, summary: string, data?: Json): void;
}

/**
 * Creates a tracer that writes in the background. Entries never delay a message; a failure is passed to `onError`, not
 * thrown.
 */
export function createTracer<Stage extends string = string>(
  store: TraceStore,
  onError: (error: unknown) => void,
): Tracer<Stage> {
  return {
    note(messageId, stage, summary, data) {
      const noted: Json = data === undefined ? { summary } : { summary, data };
      store.append(messageId, [{ stage, data: noted }]).catch(onError);
    },
  };
}

/** Converts a stored entry. */
export function traceEntry(row: {
  readonly stage: string;
  readonly at: number;
  readonly data: Json;
}): TraceEntry {
  const { stage, at } = row;
  const note = isRecord(row.data) ? row.data : {};
  const summary = typeof note["summary"] === "string" ? note["summary"] : stage;
  const data = note["data"];
  return { at, stage, summary, data: data === undefined ? undefined : unpacked(data) };
}

/** The fields of a prompt section that a trace contains. */
interface Section {
  readonly name: string;
  readonly part: string;
  readonly chars: number;
  readonly tokens: number;
}

/** Encodes sections as arrays: every message has about a dozen, and their field names would be most of its trace. */
export function packSections(sections: readonly Section[]): Json {
  return sections.map(({ name, part, chars, tokens }) => [name, part, chars, tokens]);
}

function unpacked(data: Json): Json {
  if (!isRecord(data) || !Array.isArray(data["sections"])) return data;
  const sections: readonly Json[] = data["sections"];
  return {
    ...data,
    sections: sections.map((section) => {
      if (!Array.isArray(section)) return section;
      const [name = null, part = null, chars = null, tokens = null]: readonly Json[] = section;
      return { name, part, chars, tokens };
    }),
  };
}

function isRecord(value: Json): value is { readonly [key: string]: Json | undefined } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
