/** A stretch of a text in UTF-16 units, from `start` up to and without `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Whether a piece fits. `index` counts the pieces of what is being cut: the first one may have to share its part with
 * what stands before it.
 */
export type Fits = (piece: string, index: number) => boolean;

/** Cuts lines into pieces of whole lines; a line that is too long by itself is cut between words. */
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
 * Cuts prose, between paragraphs if possible, else between lines, sentences or words. It never cuts inside what people
 * see as one character unless that alone does not fit, and inside `whole` ranges (links, code) only if there is no
 * other way.
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

/** The length of the longest start of `text` that fits, in whole characters; at least one. */
function reach(text: string, fits: (piece: string) => boolean): number {
  let most = 0;
  let tooMany = text.length;
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2);
    if (fits(text.slice(0, middle))) most = middle;
    else tooMany = middle;
  }
  const whole = characterStart(text, most);
  return Math.max(whole, (text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1);
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** How far back to look for a place where characters certainly begin: longer than any emoji sequence in use. */
const lookBack = 200;

/** `index`, or the start of the character that it falls into. */
function characterStart(text: string, index: number): number {
  const from = Math.max(0, index - lookBack);
  const anchor = text.slice(from, index).search(/[\x20-\x7e\n](?!\p{M}|\u200d)/u);
  const start = from === 0 ? 0 : anchor < 0 ? wholePair(text, from) : from + anchor;
  const segment = segmenter.segment(text.slice(start, index + lookBack)).containing(index - start);
  const boundary = start + (segment?.index ?? index - start);
  return boundary > 0 ? boundary : wholePair(text, index);
}

/** `index`, or one before where it falls into a surrogate pair. */
function wholePair(text: string, index: number): number {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff ? index - 1 : index;
}

/** Where a cut may fall, best first. */
const places: readonly { readonly pattern: RegExp; readonly after: boolean }[] = [
  { pattern: /\n[^\S\n]*\n/g, after: false },
  { pattern: /\n/g, after: false },
  { pattern: /[。！？；…]+[”’」』）)]*|[.!?;]+["')\]]*(?=\s)/g, after: true },
  { pattern: /\s/g, after: false },
  { pattern: /[，、：]/g, after: true },
];

/** The best place to cut at or before `limit`: each kind of place counts only in the last half. */
function bestCut(text: string, limit: number, allowed: (at: number) => boolean): number {
  const from = Math.floor(limit / 2);
  const zone = text.slice(from, limit + 1);
  for (const { pattern, after } of places) {
    const cuts = [...zone.matchAll(pattern)].map(
      (match) => from + match.index + (after ? match[0].length : 0),
    );
    const best = cuts.findLast((at) => at > 0 && at <= limit && allowed(at));
    if (best !== undefined) return best;
  }
  return limit;
}
