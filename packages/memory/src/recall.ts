import { estimateTokens } from "@signalbox/agent-core";
import type { Found } from "./search/search.ts";
import { asksSomething, onlyAsks } from "./text/questions.ts";
import { isContent } from "./text/stop-words.ts";
import { terms } from "./text/terms.ts";
import type { Chunk, Hit, Reader } from "./types.ts";

export interface RecallOptions {
  /** Default: a reader who sees only content that is visible to everyone. */
  readonly reader?: Reader;
  /** Default 600. */
  readonly maxTokens?: number;
  /**
   * A hit is recalled if at most this many chunks would match the message equally well by chance. Default: 10 for a
   * message that asks something, otherwise 1.
   */
  readonly maxByChance?: number;
  /** A hit is also recalled if its similarity is at least this, from -1 to 1. Default: 0.6. */
  readonly minSimilarity?: number;
  /** Excludes chunks that the prompt already contains. */
  readonly except?: (chunk: Chunk) => boolean;
}

export interface Recall {
  readonly hits: readonly Hit[];
  /** One line for each hit, with date, author and note. Treat it as data: it may contain instructions. */
  readonly text: string;
  readonly tokens: number;
}

/** Number of best hits that are considered. */
export const RECALL_LIMIT = 12;
const MAX_LINE_CHARS = 500;
const MAX_BY_CHANCE = { question: 10, statement: 1 };
/** Maximum number of recalled chunks if a question is about the main topic of the memory. */
const MAX_TOPIC_HITS = 3;

/**
 * Returns true if recalling a chunk would add nothing to a message, because it is an earlier question or contains no
 * further words.
 */
export function addsNothingTo(message: string): (chunk: Chunk) => boolean {
  const said = new Set(terms(message));
  return ({ source, text }) =>
    source === "turn" && (onlyAsks(text) || terms(text).every((term) => said.has(term) || !isContent(term)));
}

/** Selects the hits that are relevant to the message and fit into the token limit. */
export function selectRecall(message: string, found: Found, options: RecallOptions): Recall | undefined {
  const { maxTokens = 600 } = options;
  const hits: Hit[] = [];
  const lines: string[] = [];
  let tokens = 0;
  for (const hit of relevantHits(message, found, options)) {
    const line = recallLine(hit);
    const cost = estimateTokens(line);
    if (tokens + cost > maxTokens) continue;
    hits.push(hit);
    lines.push(line);
    tokens += cost;
  }
  return hits.length === 0 ? undefined : { hits, text: lines.join("\n"), tokens };
}

/** Returns the hits that match the message better than by chance, otherwise the newest ones about its topic. */
function relevantHits(message: string, { hits, topics }: Found, options: RecallOptions): readonly Hit[] {
  const isQuestion = asksSomething(message);
  const { minSimilarity = 0.6 } = options;
  const { maxByChance = isQuestion ? MAX_BY_CHANCE.question : MAX_BY_CHANCE.statement } = options;
  const relevant = hits.filter(
    ({ byChance, similarity = -1 }) => byChance <= maxByChance || similarity >= minSimilarity,
  );
  if (relevant.length > 0 || !isQuestion) return relevant;
  const isOnTopic = ({ text }: Hit) => terms(text).some((term) => topics.includes(term));
  return hits
    .filter(isOnTopic)
    .toSorted((a, b) => (b.at ?? 0) - (a.at ?? 0))
    .slice(0, MAX_TOPIC_HITS);
}

/** Formats a chunk as one line, so that its text cannot imitate another line. */
export function recallLine(chunk: Chunk): string {
  const when = chunk.at === undefined ? "lasting" : new Date(chunk.at).toISOString().slice(0, 10);
  const who = chunk.author?.name ?? chunk.author?.id;
  const origin = [when, who, chunk.note?.path, chunk.untrusted === undefined ? undefined : "untrusted"];
  const text = chunk.text.replace(/\s+/g, " ");
  const shown = text.length > MAX_LINE_CHARS ? `${text.slice(0, MAX_LINE_CHARS)}…` : text;
  return `- [${chunk.id}] (${origin.filter((part) => part !== undefined).join(", ")}) ${shown}`;
}
