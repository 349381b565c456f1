import type { TraceEntry } from "@signalbox/client";

/** A note of a message's way, with the stretch of time that it closes. */
export interface Step {
  entry: TraceEntry;
  /** Milliseconds since the message came: when the note before it was made, and when it was. */
  from: number;
  to: number;
}

/** The way of a message in time: each stage notes what it did when it is done, so that a step ends with its note. */
export function stepsOf(entries: readonly TraceEntry[], cameAt: number | undefined): Step[] {
  const inOrder = entries.toSorted((a, b) => a.at - b.at);
  const start = Math.min(cameAt ?? Number.POSITIVE_INFINITY, inOrder[0]?.at ?? 0);
  return inOrder.map((entry, place) => ({
    entry,
    from: (inOrder[place - 1]?.at ?? start) - start,
    to: entry.at - start,
  }));
}
