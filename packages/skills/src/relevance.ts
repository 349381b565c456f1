import type { Pacer } from "./pacer.ts";
import type { Skill } from "./skill.ts";

/** Maximum length of the query, in UTF-16 units. */
const MAX_TEXT = 2_000;
/** Maximum compared length of a description, in UTF-16 units. */
const MAX_DESCRIPTION = 200;

/** Returns true if a text has words that can be compared. */
export function isRankable(text: string): boolean {
  return getTerms(text.slice(0, MAX_TEXT)).length > 0;
}

/**
 * Sorts skills by their relevance to a text. Words are weighted by inverse document frequency, and scores are
 * normalized by the number of a skill's words. Skills with the same score keep their order.
 */
export async function sortByRelevance(
  skills: readonly Skill[],
  text: string,
  pacer: Pacer,
): Promise<readonly Skill[]> {
  const asked = new Set(getTerms(text.slice(0, MAX_TEXT)));
  if (asked.size === 0) return skills;
  const matches: { readonly shared: readonly string[]; readonly size: number }[] = [];
  for (const { name, description } of skills) {
    await pacer.pause();
    const terms = new Set(getTerms(`${name} ${description.slice(0, MAX_DESCRIPTION)}`));
    matches.push({ shared: [...asked].filter((term) => terms.has(term)), size: terms.size });
  }
  const frequencies = new Map<string, number>();
  for (const { shared } of matches)
    for (const term of shared) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  const getWeight = (term: string) => Math.log(1 + skills.length / (frequencies.get(term) ?? 1));
  const scores = matches.map(
    ({ shared, size }) => shared.reduce((sum, term) => sum + getWeight(term), 0) / Math.sqrt(size + 1),
  );
  return skills
    .map((skill, place) => ({ skill, score: scores[place] ?? 0 }))
    .sort((a, b) => b.score - a.score)
    .map(({ skill }) => skill);
}

/** Scripts without spaces between words are compared by pairs of letters. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

function getTerms(text: string): string[] {
  const runs = text
    .toLowerCase()
    .match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+|[\p{L}\p{N}]+/gu);
  return (runs ?? []).flatMap((run) =>
    UNSPACED.test(run) ? getPairs(run) : run.length < 3 ? [] : [stem(run)],
  );
}

function getPairs(run: string): string[] {
  const letters = Array.from(run);
  return letters.length === 1 ? letters : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}

/** A minimal stemmer, so that `scripts` matches `script`. */
function stem(word: string): string {
  return word.replace(/(?:ing|es|s)$/, "") || word;
}
