import { createFenceTracker } from "@signalbox/channel";

/** Where a text is best cut; a stronger place serves as well. */
type BreakAt = "paragraph" | "newline" | "sentence";

/** How a text that is still being written is cut into messages. */
export interface BlockRules {
  /** Fewer characters are no block of their own, except at the end. */
  readonly minChars: number;
  /** More characters are one only where there is no place to cut, as in a long code block. */
  readonly maxChars: number;
  readonly breakAt: BreakAt;
}

/** A place to cut; the lower its rank, the better it reads. */
interface Place {
  readonly at: number;
  readonly rank: number;
}

const RANKS: Readonly<Record<BreakAt | "word", number>> = { paragraph: 0, newline: 1, sentence: 2, word: 3 };
const SENTENCE_END = /[。！？；…]+[”’」』）)]*|[.!?;]+["')\]]*(?=\s)/g;
const WORD_END = /\s+/g;
/** Code, links and strong words in a line, which are not cut. */
const WHOLE = /`[^`]*`|\[[^\]]*\]\([^)]*\)|\*\*[^*]+\*\*/g;

/**
 * The length of the block that the text begins with, 0 where it is not finished. A block is finished when it is as long
 * as blocks may be, and a shorter one when nothing more has been written for a while. It never ends inside of a code
 * block or a table.
 */
export function finishedBlock(
  text: string,
  { minChars, maxChars, breakAt }: BlockRules,
  isIdle: boolean,
): number {
  const isFull = text.length >= maxChars;
  if (text.length < minChars || !(isFull || isIdle)) return 0;
  const places = placesIn(text).filter(({ at }) => at >= minChars);
  const weakest = isFull ? RANKS.word : RANKS[breakAt];
  for (let rank = RANKS[breakAt]; rank <= weakest; rank++) {
    const place = places.findLast((each) => each.rank <= rank && each.at <= maxChars);
    if (place !== undefined) return place.at;
  }
  return isFull ? (places.find(({ at }) => at > maxChars)?.at ?? 0) : 0;
}

/** In the order of the text. */
function placesIn(text: string): Place[] {
  const fences = createFenceTracker();
  const lines = text.split("\n");
  const places: Place[] = [];
  let start = 0;
  for (const [index, line] of lines.entries()) {
    const kind = fences.read(line);
    const end = start + line.length;
    const next = lines[index + 1];
    if (kind === "text" && !isTableRow(line)) places.push(...placesInLine(line, start));
    const isInTable = isTableRow(line) && next !== undefined && isTableRow(next);
    if (next !== undefined && line.trim() !== "" && !fences.isOpen && !isInTable)
      places.push({ at: end, rank: next.trim() === "" && index + 2 < lines.length ? 0 : 1 });
    start = end + 1;
  }
  return places;
}

function placesInLine(line: string, start: number): Place[] {
  const whole = [...line.matchAll(WHOLE)].map(({ 0: { length }, index }) => ({
    from: index,
    to: index + length,
  }));
  const isFree = (at: number): boolean => !whole.some(({ from, to }) => from < at && at < to);
  const ends = [...line.matchAll(SENTENCE_END)].map(({ 0: mark, index }) => index + mark.length);
  const words = [...line.matchAll(WORD_END)].map(({ index }) => index);
  return [
    ...ends.map((at) => ({ at, rank: RANKS.sentence })),
    ...words.map((at) => ({ at, rank: RANKS.word })),
  ]
    .filter(({ at }) => at > 0 && isFree(at))
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, rank }) => ({ at: start + at, rank }));
}

function isTableRow(line: string): boolean {
  return line.trimStart().startsWith("|");
}
