/**
 * Splits a text into words for the search index and for queries. `Intl.Segmenter` finds words in Chinese, Japanese and
 * Korean, which have no spaces.
 *
 * VitePress copies the source of this function into the page, so it must not use anything outside itself.
 */
export function tokenize(text: string): string[] {
  const words: string[] = [];
  for (const part of text.split(/[\s\p{P}\p{Z}\p{S}]+/u)) {
    if (part === "") continue;
    if (!/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(part)) {
      words.push(part);
      continue;
    }
    for (const { segment, isWordLike } of new Intl.Segmenter("zh", { granularity: "word" }).segment(part))
      if (isWordLike) words.push(segment);
  }
  return words;
}
