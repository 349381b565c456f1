import { englishTerm } from "./english.ts";

/** Chinese, Japanese and Korean: written without spaces, or with endings that belong to no word. */
const CJK = String.raw`\u2e80-\u2fdf\u3005\u3041-\u9fff\uac00-\ud7a3\uf900-\ufaff\u{20000}-\u{3ffff}`;
/** Thai, Lao, Burmese and Khmer, whose words only a dictionary tells apart. */
const UNSPACED = String.raw`\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff`;
const LETTERS = String.raw`[[\p{L}\p{M}\p{N}]--[${CJK}${UNSPACED}]]`;

/** A text in runs that are cut into terms in the same way. What is in none of them, separates. */
const RUN = new RegExp(
  String.raw`(?<cjk>[${CJK}]+)|(?<unspaced>[${UNSPACED}]+)|\p{N}+(?:[.,:]\p{N}+)*|${LETTERS}+(?:['’]\p{L}+)?`,
  "gv",
);
const ENDING = /['’]\p{L}+$/u;
const ASCII = /^[\0-\x7f]*$/;
const MARKS = /\p{M}+/gu;

/** Characters that stand in any Chinese or Japanese sentence. */
const STOP_CHARACTERS = new Set(
  "的了是在和与及或也都就而之其这那有为以于被把让给个们吗呢吧啊着过のはがをにでともへや",
);

type CutRun = (run: string) => readonly string[];

let segmenter: Intl.Segmenter | undefined;

/**
 * The terms that a text is found by, in its order and as often as they occur: stems for English, words of a dictionary
 * for scripts of south-east Asia. Chinese, Japanese and Korean go by characters and pairs of them, since dictionaries
 * miss names and new words, and cut differently in a sentence than in a question.
 */
export function terms(text: string): string[] {
  return cut(text, charactersAndPairs);
}

/**
 * The terms that a question looks for. Of characters, only those that are a word there: the others are parts of words,
 * which pairs find better.
 */
export function queryTerms(text: string): string[] {
  return cut(text, (run) => [...dictionaryWords(run).filter(isSingle), ...pairs(run)]);
}

function cut(text: string, cutCjk: CutRun): string[] {
  const plain = ASCII.test(text) ? text.toLowerCase() : text.normalize("NFKC").toLowerCase();
  const cutTerms: string[] = [];
  for (const { 0: run, groups } of plain.matchAll(RUN)) {
    if (groups?.["cjk"] !== undefined) for (const term of cutCjk(run)) cutTerms.push(term);
    else if (groups?.["unspaced"] !== undefined) cutTerms.push(...dictionaryWords(run));
    else {
      const term = wordTerm(run);
      if (term !== undefined) cutTerms.push(term);
    }
  }
  return cutTerms;
}

function charactersAndPairs(run: string): string[] {
  const parts: string[] = [];
  let before = "";
  for (const character of run) {
    if (!STOP_CHARACTERS.has(character)) parts.push(character);
    if (before !== "") parts.push(before + character);
    before = character;
  }
  return parts;
}

function pairs(run: string): string[] {
  return charactersAndPairs(run).filter((part) => !isSingle(part));
}

function isSingle(part: string): boolean {
  return [...part].length === 1 && !STOP_CHARACTERS.has(part);
}

function dictionaryWords(run: string): string[] {
  segmenter ??= new Intl.Segmenter("zh", { granularity: "word" });
  return Array.from(segmenter.segment(run), ({ segment }) => segment);
}

function wordTerm(word: string): string | undefined {
  const bare = word.replace(ENDING, "");
  return englishTerm(ASCII.test(bare) ? bare : bare.normalize("NFD").replace(MARKS, ""));
}
