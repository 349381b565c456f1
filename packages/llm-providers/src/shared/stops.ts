import type { Warn } from "./thinking.ts";

/** The first `most` stop sequences, with a warning where there are more. */
export function atMost(sequences: readonly string[], most: number, warn: Warn): string[] {
  if (sequences.length > most)
    warn("stop.dropped", `${sequences.length - most} stop sequence(s) were left out: the API takes ${most}.`);
  return sequences.slice(0, most);
}
