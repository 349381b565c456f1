import type { SearchMode, SearchResult } from "../types.ts";

const MAX_TERMS = 12;

/** What was searched and how, in a sentence: "nothing" must never mean "not searched". */
export function summarise(hits: number, mode: SearchMode, searched: SearchResult["searched"]): string {
  const { notes, turns, terms } = searched;
  const where = `${count(notes, "part")} of notes and ${count(turns, "turn")} of conversations`;
  const shown = terms.slice(0, MAX_TERMS).join(", ") + (terms.length > MAX_TERMS ? ", …" : "");
  const what = terms.length === 0 ? "the query has no word that could be looked for" : `looked for: ${shown}`;
  return `${count(hits, "hit")} in ${where}; ${what}; ${howOf(mode)}.`;
}

function howOf(mode: SearchMode): string {
  if (mode.kind === "words") return `words only: ${mode.reason}`;
  const pending = mode.pending === 0 ? "" : `, ${count(mode.pending, "part")} without a vector yet`;
  return `words and vectors (${mode.model}, by ${mode.engine}${pending})`;
}

function count(value: number, word: string): string {
  return `${value === 0 ? "no" : value} ${word}${value === 1 ? "" : "s"}`;
}
