import type { TraceEntry } from "@signalbox/client";

/** A step of a message's timeline. */
export interface Step {
  entry: TraceEntry;
  /** Start and end in milliseconds since the message arrived. */
  from: number;
  to: number;
}

/** Computes the timeline of a message. Stages write their note when they finish, so a step ends with its note. */
export function stepsOf(entries: readonly TraceEntry[], cameAt: number | undefined): Step[] {
  const inOrder = entries.toSorted((a, b) => a.at - b.at);
  const start = Math.min(cameAt ?? Number.POSITIVE_INFINITY, inOrder[0]?.at ?? 0);
  return inOrder.map((entry, place) => ({
    entry,
    from: (inOrder[place - 1]?.at ?? start) - start,
    to: entry.at - start,
  }));
}
