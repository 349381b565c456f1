import { sql } from "drizzle-orm";
import { guardOf, type Key, labelsOf, sharesLabel } from "../access.ts";
import { type Database, untilWritten } from "./open.ts";
import { type CensusRecord, census } from "./schema.ts";

/** Chunk counts. */
interface Counts {
  readonly notes: number;
  readonly turns: number;
  /** Total number of terms. */
  readonly length: number;
}

/** The fields of a chunk that determine its group. */
interface Counted {
  readonly source: CensusRecord["source"];
  readonly scope: string;
  readonly authorId: string | null;
  readonly length: number;
}

/** Chunk counts by visibility. They are stored, because counting takes longer than a search. */
export interface Census {
  visible(key: Key): Counts;
  /** All chunks, visible or not. */
  all(): Counts;
  /** Returns true if there is a chunk that the key does not open. */
  isPartHidden(key: Key): boolean;
  /** Counts added (`1`) or removed (`-1`) chunks, with one statement per group. */
  adjust(chunks: readonly Counted[], by: 1 | -1): void;
}

export function createCensus({ db, raw }: Database): Census {
  const select = db.select().from(census).prepare();
  const adjust = db
    .insert(census)
    .values({
      source: sql.placeholder("source"),
      scope: sql.placeholder("scope"),
      authorId: sql.placeholder("authorId"),
      chunks: sql.placeholder("chunks"),
      length: sql.placeholder("length"),
    })
    .onConflictDoUpdate({
      target: [census.source, census.scope, census.authorId],
      set: {
        chunks: sql`${census.chunks} + excluded.chunks`,
        length: sql`${census.length} + excluded.length`,
      },
    })
    .prepare();
  const groups = untilWritten(raw, () => {
    const all = select.all().filter(({ chunks }) => chunks > 0);
    return {
      all: all.map((group) => ({ ...group, labels: labelsOf(guardOf(withNull(group))) })),
      sums: sums(all),
    };
  });

  return {
    visible: (key) => sums(groups().all.filter(({ labels }) => sharesLabel(key, labels))),
    all: () => groups().sums,
    isPartHidden: (key) => groups().all.some(({ labels }) => !sharesLabel(key, labels)),
    adjust(chunks, by) {
      for (const group of grouped(chunks, by)) adjust.run({ ...group });
    },
  };
}

function grouped(chunks: readonly Counted[], by: 1 | -1): Iterable<CensusRecord> {
  const groups = new Map<string, CensusRecord>();
  for (const { source, scope, authorId, length } of chunks) {
    const key = JSON.stringify([source, scope, authorId]);
    const group = groups.get(key) ?? { source, scope, authorId: authorId ?? "", chunks: 0, length: 0 };
    groups.set(key, { ...group, chunks: group.chunks + by, length: group.length + by * length });
  }
  return groups.values();
}

/** Columns of a primary key cannot be null, so no author is stored as an empty string. */
function withNull({ scope, authorId }: CensusRecord): { scope: string; authorId: string | null } {
  return { scope, authorId: authorId === "" ? null : authorId };
}

function sums(groups: readonly CensusRecord[]): Counts {
  const total = (counted: readonly CensusRecord[], what: "chunks" | "length") =>
    counted.reduce((sum, group) => sum + group[what], 0);
  return {
    notes: total(
      groups.filter(({ source }) => source === "note"),
      "chunks",
    ),
    turns: total(
      groups.filter(({ source }) => source === "turn"),
      "chunks",
    ),
    length: total(groups, "length"),
  };
}
