import { createFenceTracker } from "@signalbox/channel";

/** The preferred position to cut a text. Stronger breaks are accepted too. */
type BreakAt = "paragraph" | "newline" | "sentence";

/** Rules for splitting a text into messages while it is being written. */
export interface BlockRules {
  /** Minimum length of a block in characters, except for the last one. */
  readonly minChars: number;
  /** Maximum length of a block in characters. Exceeded only if there is no position to cut, as in a long code block. */
  readonly maxChars: number;
  readonly breakAt: BreakAt;
}

/** A position to cut. Positions with a lower rank read better. */
interface Place {
  readonly at: number;
  readonly rank: number;
}

const RANKS: Readonly<Record<BreakAt | "word", number>> = { paragraph: 0, newline: 1, sentence: 2, word: 3 };
/** Starts only at the first mark of a row, because searches from each mark would take quadratic time. */
const SENTENCE_END = /[。！？；…]+[”’」』）)]*|(?<![.!?;])[.!?;]+["')\]]*(?=\s)/g;
const WORD_END = /\s+/g;
/**
 * Inline code, links and strong text, which must not be cut. The label of a link contains no further brackets, for the
 * same reason.
 */
const UNBREAKABLE = /`[^`]*`|\[[^[\]]*\]\([^()]*(?:\([^()]*\)[^()]*)*\)|\*\*[^*]+\*\*/g;

/**
 * Returns the length of the finished block at the start of a text, or 0. A block is finished once it has reached the
 * maximum length, or the minimum length while no more text is arriving. It never ends inside a code block or a table.
 *
 * @param isIdle true if no text has arrived for a while
 */
export function getFinishedBlockLength(
  text: string,
  { minChars, maxChars, breakAt }: BlockRules,
  isIdle: boolean,
): number {
  const isFull = text.length >= maxChars;
  if (text.length < minChars || !(isFull || isIdle)) return 0;
  const places = findPlaces(text).filter(({ at }) => at >= minChars);
  const weakest = isFull ? RANKS.word : RANKS[breakAt];
  for (let rank = RANKS[breakAt]; rank <= weakest; rank++) {
    const place = places.findLast((each) => each.rank <= rank && each.at <= maxChars);
    if (place !== undefined) return place.at;
  }
  return isFull ? (places.find(({ at }) => at > maxChars)?.at ?? 0) : 0;
}

/** Returns all positions to cut, in ascending order. */
function findPlaces(text: string): Place[] {
  const fences = createFenceTracker();
  const lines = text.split("\n");
  const places: Place[] = [];
  let start = 0;
  for (const [index, line] of lines.entries()) {
    const kind = fences.read(line);
    const end = start + line.length;
    const next = lines[index + 1];
    if (kind === "text" && !isTableRow(line)) places.push(...findPlacesInLine(line, start));
    const isInTable = isTableRow(line) && next !== undefined && isTableRow(next);
    if (next !== undefined && line.trim() !== "" && !fences.isOpen && !isInTable)
      places.push({
        at: end,
        rank: next.trim() === "" && index + 2 < lines.length ? RANKS.paragraph : RANKS.newline,
      });
    start = end + 1;
  }
  return places;
}

function findPlacesInLine(line: string, start: number): Place[] {
  const unbreakable = [...line.matchAll(UNBREAKABLE)].map(({ 0: { length }, index }) => ({
    from: index,
    to: index + length,
  }));
  const sentences = [...line.matchAll(SENTENCE_END)].map(({ 0: mark, index }) => index + mark.length);
  const words = [...line.matchAll(WORD_END)].map(({ index }) => index);
  const places = [
    ...sentences.map((at) => ({ at, rank: RANKS.sentence })),
    ...words.map((at) => ({ at, rank: RANKS.word })),
  ].toSorted((a, b) => a.at - b.at);
  let next = 0;
  return places
    .filter(({ at }) => {
      while ((unbreakable[next]?.to ?? Number.POSITIVE_INFINITY) <= at) next += 1;
      return at > 0 && at <= (unbreakable[next]?.from ?? at);
    })
    .map(({ at, rank }) => ({ at: start + at, rank }));
}

function isTableRow(line: string): boolean {
  return line.trimStart().startsWith("|");
}
