import { isContent } from "../text/stop-words.ts";

/** Minimum number of chunks for computing word frequencies. In a smaller memory, every word would look rare. */
const MIN_CHUNKS = 50;

export interface EvidenceOptions {
  /** Number of chunks visible to the reader that contain each query term. */
  readonly frequencies: ReadonlyMap<string, number>;
  /** The number of chunks visible to the reader. */
  readonly chunks: number;
}

/** Share of the chunks above which a content word is considered their topic. */
const TOPIC_SHARE = 0.25;
/** Minimum number of chunks for topics. With fewer, a word can reach that share by accident. */
const MIN_CHUNKS_FOR_TOPICS = 30;

/** Returns the query's words that more than a quarter of the chunks contain, such as the name of a project. */
export function topicsIn({ frequencies, chunks }: EvidenceOptions): readonly string[] {
  if (chunks < MIN_CHUNKS_FOR_TOPICS) return [];
  return [...frequencies]
    .filter(([term, frequency]) => isContent(term) && frequency > chunks * TOPIC_SHARE)
    .map(([term]) => term);
}

/**
 * Returns a function that estimates how many chunks would match a query by chance as well as a chunk with the given
 * terms.
 *
 * If `k` of the query's `m` content words occur in a chunk, the estimate is `n · C(m, k) · Π(frequency / n)` for `n`
 * chunks, as if words occurred independently. It depends on the matching words but hardly on the length of the query,
 * so a question wrapped in polite sentences still finds its answer.
 */
export function chanceOf({ frequencies, chunks }: EvidenceOptions): (terms: ReadonlySet<string>) => number {
  const content = [...frequencies].filter(([term]) => isContent(term));
  const n = Math.max(chunks, MIN_CHUNKS);
  return (terms) => {
    const matched = content.filter(([term, frequency]) => frequency > 0 && terms.has(term));
    return matched.reduce(
      (chance, [, frequency], k) => (chance * frequency * (content.length - k)) / (n * (k + 1)),
      matched.length === 0 ? Number.POSITIVE_INFINITY : n,
    );
  };
}
