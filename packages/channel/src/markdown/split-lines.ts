/** A range of a text in UTF-16 code units. `end` is exclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns true if a piece fits into a part. `index` is the piece's index in the text being split. The first piece may
 * have to share its part with the text before it.
 */
export type Fits = (piece: string, index: number) => boolean;

/** Splits lines into pieces of whole lines. A line that is too long is split between words. */
export function splitLines(lines: readonly string[], fits: Fits): string[] {
  const pieces: string[] = [];
  let piece: string | undefined;
  for (const line of lines) {
    const longer: string = piece === undefined ? line : `${piece}\n${line}`;
    if (fits(longer, pieces.length)) {
      piece = longer;
      continue;
    }
    if (piece !== undefined) pieces.push(piece);
    const words = splitWords(line, (part, index) => fits(part, pieces.length + index));
    pieces.push(...words.slice(0, -1));
    piece = words.at(-1);
  }
  if (piece !== undefined) pieces.push(piece);
  return pieces.filter((each) => each.trim() !== "");
}

/**
 * Splits prose between paragraphs if possible, otherwise between lines, sentences or words. A grapheme cluster is split
 * only if it does not fit by itself, and a range in `whole` (a link, inline code) only if there is no other position.
 */
export function splitWords(text: string, fits: Fits, whole: readonly Range[] = []): string[] {
  const pieces: string[] = [];
  let start = 0;
  while (start < text.length) {
    const rest = text.slice(start);
    const length = fits(rest, pieces.length)
      ? rest.length
      : bestCut(
          rest,
          reach(rest, (piece) => fits(piece, pieces.length)),
          (at) => !whole.some((range) => range.start < start + at && start + at < range.end),
        );
    const piece = rest.slice(0, length).trimEnd();
    if (piece.trim() !== "") pieces.push(piece);
    start += length;
    start += /^(?:(?:[^\S\n]*\n)+|[^\S\n]+)?/.exec(text.slice(start))?.[0].length ?? 0;
  }
  return pieces;
}

/** Returns the length of the longest prefix of `text` that fits, in whole grapheme clusters. At least one character. */
function reach(text: string, fits: (piece: string) => boolean): number {
  let fitting = 0;
  let tooLong = text.length;
  while (tooLong - fitting > 1) {
    const middle = Math.floor((fitting + tooLong) / 2);
    if (fits(text.slice(0, middle))) fitting = middle;
    else tooLong = middle;
  }
  const whole = characterStart(text, fitting);
  return Math.max(whole, (text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1);
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/**
 * Maximum number of UTF-16 code units to search backward for a certain character boundary. Longer than any emoji
 * sequence.
 */
const LOOK_BACK = 200;

/** Returns the start of the grapheme cluster at `index`. */
function characterStart(text: string, index: number): number {
  const from = Math.max(0, index - LOOK_BACK);
  const anchor = text.slice(from, index).search(/[\x20-\x7e\n](?!\p{M}|\u200d)/u);
  const start = from === 0 ? 0 : anchor < 0 ? wholePair(text, from) : from + anchor;
  const segment = segmenter.segment(text.slice(start, index + LOOK_BACK)).containing(index - start);
  const boundary = start + (segment?.index ?? index - start);
  return boundary > 0 ? boundary : wholePair(text, index);
}

/** Returns `index`, or one less if it is inside a surrogate pair. */
function wholePair(text: string, index: number): number {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff ? index - 1 : index;
}

/** Positions at which to cut, best first. */
const CUT_PLACES: readonly { readonly pattern: RegExp; readonly after: boolean }[] = [
  { pattern: /\n[^\S\n]*\n/g, after: false },
  { pattern: /\n/g, after: false },
  { pattern: /[。！？；…]+[”’」』）)]*|[.!?;]+["')\]]*(?=\s)/g, after: true },
  { pattern: /\s/g, after: false },
  { pattern: /[，、：]/g, after: true },
];

/**
 * Returns the best position for a cut at or before `limit`. Ignores positions in the first half, which would make parts
 * too short.
 */
function bestCut(text: string, limit: number, allowed: (at: number) => boolean): number {
  const from = Math.floor(limit / 2);
  const zone = text.slice(from, limit + 1);
  for (const { pattern, after } of CUT_PLACES) {
    const cuts = [...zone.matchAll(pattern)].map(
      (match) => from + match.index + (after ? match[0].length : 0),
    );
    const best = cuts.findLast((at) => at > 0 && at <= limit && allowed(at));
    if (best !== undefined) return best;
  }
  return limit;
}
