import { englishTerm } from "./english.ts";

/** Scripts whose words only a dictionary tells apart: Thai, Lao, Burmese, Khmer, and those of {@link isCjk}. */
const NEEDS_DICTIONARY =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff\u{20000}-\u{3ffff}]/u;
const WORD = /\p{N}+(?:[.,:]\p{N}+)*|[\p{L}\p{M}\p{N}]+(?:['’]\p{L}+)?/gu;
const ENDING = /['’]\p{L}+$/u;
const ASCII = /^[\0-\x7f]*$/;
const MARKS = /\p{M}+/gu;

/** Characters that stand in any Chinese or Japanese sentence. */
const STOP_CHARACTERS = new Set(
  "的了是在和与及或也都就而之其这那有为以于被把让给个们吗呢吧啊着过の は が を に で と も へ や".replaceAll(
    " ",
    "",
  ),
);

let segmenter: Intl.Segmenter | undefined;

/**
 * The terms that a text is found by, in its order and as often as they occur.
 *
 * Words: stems for English, words of a dictionary for what is written without spaces. There also every two characters
 * in a row, since dictionaries miss names and new words, and cut differently in a sentence than in a question.
 */
export function terms(text: string): string[] {
  const plain = ASCII.test(text) ? text.toLowerCase() : text.normalize("NFKC").toLowerCase();
  return NEEDS_DICTIONARY.test(plain) ? [...dictionaryTerms(plain), ...pairs(plain)] : spacedTerms(plain);
}

/** A query that is one character asks for whatever begins with it, too. */
export function isSingleCharacter(term: string): boolean {
  return term.length === 1 && isCjk(term.charCodeAt(0));
}

/**
 * Chinese, Japanese and Korean, by the unit of a string: what is written without spaces, or with endings that belong to
 * no word. Asked for every character, so that it is faster than an expression.
 */
function isCjk(unit: number): boolean {
  return (
    (unit >= 0x3041 && unit <= 0x9fff) ||
    (unit >= 0xac00 && unit <= 0xd7a3) ||
    (unit >= 0x2e80 && unit <= 0x2fdf) ||
    (unit >= 0xf900 && unit <= 0xfaff) ||
    unit === 0x3005
  );
}

function spacedTerms(text: string): string[] {
  const found: string[] = [];
  for (const [word] of text.matchAll(WORD)) {
    const term = wordTerm(word);
    if (term !== undefined) found.push(term);
  }
  return found;
}

function dictionaryTerms(text: string): string[] {
  segmenter ??= new Intl.Segmenter("zh", { granularity: "word" });
  const found: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(text)) {
    if (isWordLike !== true) continue;
    if (!isCjk(segment.charCodeAt(0))) found.push(...otherTerms(segment));
    else if (segment.length === 1 ? !STOP_CHARACTERS.has(segment) : segment.length > 2) found.push(segment);
  }
  return found;
}

/** What stands between: words of other scripts, and rare characters that take two units. */
function otherTerms(segment: string): string[] {
  return ASCII.test(segment) ? spacedTerms(segment) : [segment];
}

/** Words of two characters are among them. */
function pairs(text: string): string[] {
  const found: string[] = [];
  let before = false;
  for (let at = 0; at < text.length; at++) {
    const now = isCjk(text.charCodeAt(at));
    if (before && now) found.push(text.slice(at - 1, at + 1));
    before = now;
  }
  return found;
}

function wordTerm(word: string): string | undefined {
  const bare = word.replace(ENDING, "");
  return englishTerm(ASCII.test(bare) ? bare : bare.normalize("NFD").replace(MARKS, ""));
}
