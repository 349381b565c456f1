/** Returns "; did you mean `x`?" with a word that differs in one or two letters, or an empty string. */
export function didYouMean(written: string, words: readonly string[]): string {
  const distances = words.map((word) => ({
    word,
    distance: editDistance(written.toLowerCase(), word.toLowerCase()),
  }));
  const [closest] = distances.toSorted((a, b) => a.distance - b.distance);
  const limit = Math.min(2, Math.floor(written.length / 3));
  return closest === undefined || closest.distance > limit ? "" : `; did you mean \`${closest.word}\`?`;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [line, letter] of [...a].entries()) {
    const next = [line + 1];
    for (const [column, other] of [...b].entries()) {
      const [left = 0, above = 0, diagonal = 0] = [next[column], row[column + 1], row[column]];
      next.push(Math.min(left + 1, above + 1, diagonal + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
