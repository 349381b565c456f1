/** The section of a file that is most similar to a text that the file does not contain. */
export interface NearMatch {
  readonly kind: "white_space" | "similar";
  /** First and last line, from 1. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

const MAX_LINES = 20_000;
const MAX_WANTED = 50;
const MAX_SHOWN = 2_000;
const MIN_SIMILARITY = 0.6;

/** Searches for a text line by line: first ignoring whitespace, then by similarity. */
export function findNearMatch(text: string, wanted: string): NearMatch | undefined {
  const lines = text.split(/\r?\n/);
  const wantedLines = wanted.replace(/\r?\n$/, "").split(/\r?\n/);
  if (lines.length > MAX_LINES || wantedLines.length > MAX_WANTED || wanted.trim() === "") return undefined;
  const at = (from: number, kind: NearMatch["kind"]): NearMatch => {
    const excerpt = lines.slice(from, from + wantedLines.length).join("\n");
    const short = excerpt.length > MAX_SHOWN ? `${excerpt.slice(0, MAX_SHOWN).toWellFormed()}…` : excerpt;
    return { kind, from: from + 1, to: from + wantedLines.length, text: short };
  };

  const bare = lines.map(removeWhiteSpace);
  const bareWanted = wantedLines.map(removeWhiteSpace);
  for (let from = 0; from + wantedLines.length <= lines.length; from++) {
    if (bareWanted.every((line, i) => bare[from + i] === line)) return at(from, "white_space");
  }

  const grams = lines.map(getBigrams);
  const wantGrams = wantedLines.map(getBigrams);
  let best = -1;
  let bestSimilarity = MIN_SIMILARITY;
  for (let from = 0; from + wantedLines.length <= lines.length; from++) {
    let similarity = 0;
    for (const [i, gram] of wantGrams.entries())
      similarity += getDiceCoefficient(gram, grams[from + i] ?? EMPTY);
    similarity /= wantedLines.length;
    if (similarity > bestSimilarity) {
      bestSimilarity = similarity;
      best = from;
    }
  }
  return best < 0 ? undefined : at(best, "similar");
}

const EMPTY: ReadonlySet<string> = new Set();

function removeWhiteSpace(line: string): string {
  return line.replace(/\s+/g, "");
}

function getBigrams(line: string): ReadonlySet<string> {
  const bare = removeWhiteSpace(line).slice(0, 500);
  const result = new Set<string>();
  for (let i = 0; i + 1 < bare.length; i++) result.add(bare.slice(i, i + 2));
  return result;
}

/**
 * Returns the Sørensen–Dice coefficient. Iterates over the smaller set, so that a long wanted line does not make
 * comparisons with short lines slower.
 */
function getDiceCoefficient(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size + b.size === 0) return 1;
  const [smaller, larger] = a.size <= b.size ? [a, b] : [b, a];
  let shared = 0;
  for (const pair of smaller) if (larger.has(pair)) shared += 1;
  return (2 * shared) / (a.size + b.size);
}
