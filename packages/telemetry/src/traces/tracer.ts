import type { TraceEntry } from "@signalbox/protocol";

/** A value of JSON. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** Where notes are kept. */
export interface TraceStore {
  append(subject: string, entries: readonly { readonly stage: string; readonly data: Json }[]): Promise<void>;
}

/** Notes what each stage did with a message; what runs the message also explains it. */
export interface Tracer<Stage extends string = string> {
  note(messageId: string, stage: Stage, summary: string, data?: Json): void;
}

/**
 * Notes are written in the background: they never hold up a message, and a failure to write one is reported, not
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

/** A note as the store gives it back. */
export function traceEntry(row: {
  readonly stage: string;
  readonly at: number;
  readonly data: Json;
}): TraceEntry {
  const { stage, at } = row;
  const note = isRecord(row.data) ? row.data : {};
  const summary = typeof note["summary"] === "string" ? note["summary"] : stage;
  const data = note["data"];
  return { at, stage, summary, ...(data === undefined ? {} : { data: unpacked(data) }) };
}

/** A section of a prompt, as far as a trace tells of it. */
interface Section {
  readonly name: string;
  readonly part: string;
  readonly chars: number;
  readonly tokens: number;
}

/** Every message has a dozen sections: with the names of their fields they would be most of its trace. */
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
