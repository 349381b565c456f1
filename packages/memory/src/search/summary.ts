import type { SearchMode, SearchResult } from "../types.ts";

const MAX_TERMS = 12;

/** Describes the searched content and the mode in one sentence, to distinguish "no hits" from "not searched". */
export function summarize(hits: number, mode: SearchMode, searched: SearchResult["searched"]): string {
  const { notes, turns, terms } = searched;
  const where = `${count(notes, "part")} of notes and ${count(turns, "turn")} of conversations`;
  const shown = terms.slice(0, MAX_TERMS).join(", ") + (terms.length > MAX_TERMS ? ", …" : "");
  const what = terms.length === 0 ? "the query contains only stop words" : `looked for: ${shown}`;
  return `${count(hits, "hit")} in ${where}; ${what}; ${describeMode(mode)}.`;
}

function describeMode(mode: SearchMode): string {
  if (mode.kind === "words") return `words only: ${mode.reason}`;
  const pending = mode.pending === 0 ? "" : `, ${count(mode.pending, "part")} without a vector yet`;
  return `words and vectors (${mode.model}, by ${mode.engine}${pending})`;
}

function count(value: number, word: string): string {
  return `${value === 0 ? "no" : value} ${word}${value === 1 ? "" : "s"}`;
}
