import Sqlite from "better-sqlite3";
import { createMemory } from "../dist/index.js";
import type { BenchText } from "./questions.ts";

/** Finds places of texts, best first. */
export interface Rival {
  readonly name: string;
  open(
    texts: readonly BenchText[],
  ): Promise<{ search(query: string): Promise<number[]>; close(): Promise<void> }>;
}

const LIMIT = 10;

const memory: Rival = {
  name: "memory",
  async open(texts) {
    const opened = await createMemory();
    await opened.add(texts.map((each, place) => ({ ...each, id: String(place) })));
    return {
      async search(query) {
        const { hits } = await opened.search(query, { limit: LIMIT, neighbours: 0 });
        return hits.map(({ id }) => Number(id));
      },
      close: () => opened.close(),
    };
  },
};

/** SQLite's full text with one of its own tokenizers, each word of the query looked for. */
export function fts5(name: string, tokenizer: string): Rival {
  return {
    name,
    async open(texts) {
      const database = new Sqlite(":memory:");
      database.exec(`CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = '${tokenizer}')`);
      const insert = database.prepare("INSERT INTO texts (rowid, text) VALUES (?, ?)");
      database.transaction(() => {
        for (const [place, { text }] of texts.entries()) insert.run(place, text);
      })();
      const match = database
        .prepare<[string], number>(`SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ${LIMIT}`)
        .pluck();
      return {
        async search(query) {
          const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
          const parts = tokenizer === "trigram" ? words.flatMap(trigrams) : words;
          return parts.length === 0 ? [] : match.all(parts.map((word) => `"${word}"`).join(" OR "));
        },
        async close() {
          database.close();
        },
      };
    },
  };
}

function trigrams(word: string): string[] {
  return Array.from({ length: Math.max(1, word.length - 2) }, (_, at) => word.slice(at, at + 3));
}

/** Words of Latin letters and single characters of all else, by the cosine of their TF-IDF. */
const tfIdf: Rival = {
  name: "TF-IDF",
  async open(texts) {
    const tokens = (text: string) => text.toLowerCase().match(/[a-z0-9]+|\p{L}/gu) ?? [];
    const counted = texts.map(({ text }) => counts(tokens(text)));
    const documents = new Map<string, number>();
    for (const terms of counted)
      for (const term of terms.keys()) documents.set(term, (documents.get(term) ?? 0) + 1);
    const weigh = (terms: ReadonlyMap<string, number>) =>
      new Map(
        [...terms].map(([term, n]) => [
          term,
          n * (Math.log((texts.length + 1) / ((documents.get(term) ?? 0) + 1)) + 1),
        ]),
      );
    const vectors = counted.map(weigh).map((vector) => ({ vector, length: Math.hypot(...vector.values()) }));
    return {
      async search(query) {
        const asked = weigh(counts(tokens(query)));
        return vectors
          .map(({ vector, length }, place) => {
            let sum = 0;
            for (const [term, weight] of asked) sum += weight * (vector.get(term) ?? 0);
            return { place, score: sum / (length || 1) };
          })
          .sort((a, b) => b.score - a.score)
          .slice(0, LIMIT)
          .map(({ place }) => place);
      },
      async close() {},
    };
  },
};

function counts(tokens: readonly string[]): Map<string, number> {
  const map = new Map<string, number>();
  for (const token of tokens) map.set(token, (map.get(token) ?? 0) + 1);
  return map;
}

export const RIVALS: readonly Rival[] = [
  memory,
  fts5("FTS5 unicode61", "unicode61"),
  fts5("FTS5 trigram", "trigram"),
  tfIdf,
];
