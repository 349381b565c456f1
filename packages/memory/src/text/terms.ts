import { englishTerm } from "./english.ts";
import { isFunctionCharacter } from "./stop-words.ts";

/** Chinese, Japanese and Korean characters. These scripts are indexed by characters and pairs. */
const CJK = String.raw`\u2e80-\u2fdf\u3005\u3041-\u9fff\uac00-\ud7a3\uf900-\ufaff\u{20000}-\u{3ffff}`;
/** Thai, Lao, Burmese and Khmer are written without spaces. A dictionary splits them into words. */
const UNSPACED = String.raw`\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff`;
const LETTERS = String.raw`[[\p{L}\p{M}\p{N}]--[${CJK}${UNSPACED}]]`;

/** Runs of characters that are split with the same method. All other characters separate runs. */
const RUN = new RegExp(
  String.raw`(?<cjk>[${CJK}]+)|(?<unspaced>[${UNSPACED}]+)|\p{N}+(?:[.,:]\p{N}+)*|${LETTERS}+(?:['’]\p{L}+)?`,
  "gv",
);
const CONTRACTED_ENDING = /['’]\p{L}+$/u;
const ASCII = /^[\0-\x7f]*$/;
const COMBINING_MARKS = /\p{M}+/gu;

type SplitRun = (run: string) => readonly string[];

let segmenter: Intl.Segmenter | undefined;

/**
 * Returns the terms under which a text is indexed, in order and with repetitions. English words are stemmed. South-East
 * Asian scripts are split into dictionary words. Chinese, Japanese and Korean are split into characters and pairs of
 * characters, because dictionaries lack names and new words and split a sentence differently than a question.
 */
export function terms(text: string): string[] {
  return split(text, charactersAndPairs);
}

/**
 * Returns the search terms of a query. A single Chinese, Japanese or Korean character is searched only if it is a
 * separate word; other characters are parts of words, which pairs match more precisely.
 */
export function queryTerms(text: string): string[] {
  return split(text, (run) => [...dictionaryWords(run).filter(isSingleCharacter), ...pairs(run)]);
}

function split(text: string, splitCjk: SplitRun): string[] {
  const normalized = ASCII.test(text) ? text.toLowerCase() : text.normalize("NFKC").toLowerCase();
  const found: string[] = [];
  for (const { 0: run, groups } of normalized.matchAll(RUN)) {
    if (groups?.["cjk"] !== undefined) for (const term of splitCjk(run)) found.push(term);
    else if (groups?.["unspaced"] !== undefined) found.push(...dictionaryWords(run));
    else {
      const term = wordTerm(run);
      if (term !== undefined) found.push(term);
    }
  }
  return found;
}

function charactersAndPairs(run: string): string[] {
  const parts: string[] = [];
  let previous = "";
  for (const character of run) {
    if (!isFunctionCharacter(character)) parts.push(character);
    if (previous !== "") parts.push(previous + character);
    previous = character;
  }
  return parts;
}

function pairs(run: string): string[] {
  return charactersAndPairs(run).filter((part) => !isSingleCharacter(part));
}

function isSingleCharacter(part: string): boolean {
  return [...part].length === 1 && !isFunctionCharacter(part);
}

function dictionaryWords(run: string): string[] {
  segmenter ??= new Intl.Segmenter("zh", { granularity: "word" });
  return Array.from(segmenter.segment(run), ({ segment }) => segment);
}

function wordTerm(word: string): string | undefined {
  const bare = word.replace(CONTRACTED_ENDING, "");
  return englishTerm(ASCII.test(bare) ? bare : bare.normalize("NFD").replace(COMBINING_MARKS, ""));
}
