import { type Key, labelsOf } from "../access.ts";
import { dateTerms } from "../text/dates.ts";
import { isSingleCharacter, terms } from "../text/terms.ts";
import type { Chunk } from "../types.ts";
import type { Database } from "./open.ts";

export interface Match {
  readonly n: number;
  /** Of BM25: higher is better. */
  readonly score: number;
}

/** SQLite's full-text index over the terms of the chunks; what drizzle has no words for. */
export interface TermIndex {
  add(n: number, chunk: Chunk): void;
  remove(n: number): void;
  /** The chunks with most of these terms that the key opens, best first. Without a key all of them, which is faster. */
  match(wanted: readonly string[], key: Key | undefined, limit: number): Match[];
  /** In how many chunks each of the terms is. */
  frequencies(wanted: readonly string[]): Map<string, number>;
  /** Rewrites the index without what was removed from it. */
  compact(): void;
}

export function createTermIndex({ raw }: Database): TermIndex {
  const insert = raw.prepare(
    "INSERT INTO chunk_terms (rowid, body, about, dates, access) VALUES (?, ?, ?, ?, ?)",
  );
  const remove = raw.prepare("DELETE FROM chunk_terms WHERE rowid = ?");
  const match = raw.prepare<[string, number], { n: number; rank: number }>(
    "SELECT rowid AS n, rank FROM chunk_terms WHERE chunk_terms MATCH ? ORDER BY rank LIMIT ?",
  );
  const frequency = raw.prepare<[string], number>("SELECT doc FROM term_count WHERE term = ?").pluck();
  const compact = raw.prepare("INSERT INTO chunk_terms (chunk_terms) VALUES ('optimize')");

  return {
    add(n, chunk) {
      const about = [chunk.author?.name ?? chunk.author?.id ?? "", ...(chunk.note?.headings ?? [])].join(
        "\n",
      );
      insert.run(
        n,
        terms(chunk.text).join(" "),
        terms(about).join(" "),
        dateTerms(chunk.text, chunk.at).join(" "),
        labelsOf(chunk).map(accessTerm).join(" "),
      );
    },
    remove(n) {
      remove.run(n);
    },
    match(wanted, key, limit) {
      const any = wanted.map(quoted).join(" OR ");
      const opened = (key?.labels ?? []).map(accessTerm).map(quoted).join(" OR ");
      const query = key === undefined ? any : `(access : (${opened})) AND (${any})`;
      return match.all(query, limit).map(({ n, rank }) => ({ n, score: -rank }));
    },
    frequencies: (wanted) => new Map(wanted.map((term) => [term, frequency.get(term) ?? 0])),
    compact() {
      compact.run();
    },
  };
}

/** No term of a text begins so, and none of a label has a character that FTS5 would cut at. */
function accessTerm(label: string): string {
  return `~${Buffer.from(label).toString("hex")}`;
}

/** As FTS5 takes a string for what it is, whatever stands in it. */
function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"${isSingleCharacter(term) ? "*" : ""}`;
}
