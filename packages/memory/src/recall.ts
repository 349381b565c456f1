import { estimateTokens } from "@signalbox/agent-core";
import type { Chunk, Hit, Reader } from "./types.ts";

export interface RecallOptions {
  readonly reader?: Reader;
  /** Default 600. */
  readonly maxTokens?: number;
  /** How much of what the message says has to stand in a hit, from 0 to 1. Default 0.4. */
  readonly minCoverage?: number;
  /** Or how near in meaning it has to be, from -1 to 1. Default 0.6. */
  readonly minSimilarity?: number;
  /** Chunks that the prompt has already. */
  readonly except?: (chunk: Chunk) => boolean;
}

export interface Recall {
  readonly hits: readonly Hit[];
  /** For the prompt: one line for each, with when, who and where. It is data, whatever it says. */
  readonly text: string;
  readonly tokens: number;
}

/** How many hits are looked at. */
export const RECALL_LIMIT = 12;
const LONGEST = 500;

/** As many of the hits as bear on the message and fit. */
export function selectRecall(found: readonly Hit[], options: RecallOptions): Recall | undefined {
  const { maxTokens = 600, minCoverage = 0.4, minSimilarity = 0.6 } = options;
  const hits: Hit[] = [];
  const lines: string[] = [];
  let tokens = 0;
  for (const hit of found) {
    if (hit.coverage < minCoverage && (hit.similarity ?? -1) < minSimilarity) continue;
    const line = recallLine(hit);
    const cost = estimateTokens(line);
    if (tokens + cost > maxTokens) continue;
    hits.push(hit);
    lines.push(line);
    tokens += cost;
  }
  return hits.length === 0 ? undefined : { hits, text: lines.join("\n"), tokens };
}

/** A chunk on one line, so that nothing in it can look like the next. */
export function recallLine(chunk: Chunk): string {
  const when = chunk.at === undefined ? "lasting" : new Date(chunk.at).toISOString().slice(0, 10);
  const who = chunk.author?.name ?? chunk.author?.id;
  const from = [when, who, chunk.note?.path, chunk.untrusted === undefined ? undefined : "untrusted"];
  const text = chunk.text.replace(/\s+/g, " ");
  const shown = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return `- [${chunk.id}] (${from.filter((part) => part !== undefined).join(", ")}) ${shown}`;
}
