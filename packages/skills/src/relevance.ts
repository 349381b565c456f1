import type { Pacer } from "./pacer.ts";
import type { Skill } from "./skill.ts";

/** Of what is asked for; the beginning says what it is about. */
const MAX_TEXT = 2_000;
/** Of a description, so that thousands of them are compared in milliseconds, and long ones win nothing. */
const MAX_DESCRIPTION = 200;

/** Whether a text has words that skills can be compared with. */
export function isRankable(text: string): boolean {
  return termsOf(text.slice(0, MAX_TEXT)).length > 0;
}

/**
 * The skills that have most to do with a text first; in their own order where nothing tells them apart. A word counts
 * for more the fewer skills have it, and for less the more words a skill has, so that naming everything wins nothing.
 */
export async function byRelevance(
  skills: readonly Skill[],
  text: string,
  pacer: Pacer,
): Promise<readonly Skill[]> {
  const asked = new Set(termsOf(text.slice(0, MAX_TEXT)));
  if (asked.size === 0) return skills;
  const matches: { readonly shared: readonly string[]; readonly size: number }[] = [];
  for (const { name, description } of skills) {
    await pacer.pause();
    const terms = new Set(termsOf(`${name} ${description.slice(0, MAX_DESCRIPTION)}`));
    matches.push({ shared: [...asked].filter((term) => terms.has(term)), size: terms.size });
  }
  const having = new Map<string, number>();
  for (const { shared } of matches) for (const term of shared) having.set(term, (having.get(term) ?? 0) + 1);
  const weightOf = (term: string) => Math.log(1 + skills.length / (having.get(term) ?? 1));
  const scores = matches.map(
    ({ shared, size }) => shared.reduce((sum, term) => sum + weightOf(term), 0) / Math.sqrt(size + 1),
  );
  return skills
    .map((skill, place) => ({ skill, score: scores[place] ?? 0 }))
    .sort((a, b) => b.score - a.score)
    .map(({ skill }) => skill);
}

/** Scripts that are written without spaces are compared by pairs of letters. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

function termsOf(text: string): string[] {
  const runs = text
    .toLowerCase()
    .match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+|[\p{L}\p{N}]+/gu);
  return (runs ?? []).flatMap((run) =>
    UNSPACED.test(run) ? pairsOf(run) : run.length < 3 ? [] : [stem(run)],
  );
}

function pairsOf(run: string): string[] {
  const letters = Array.from(run);
  return letters.length === 1 ? letters : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}

/** Enough for `scripts` and `script` to be one word. */
function stem(word: string): string {
  return word.replace(/(?:ing|es|s)$/, "") || word;
}
