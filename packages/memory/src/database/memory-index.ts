import { eq, sql } from "drizzle-orm";
import type { Marks } from "../turns/turn-log.ts";
import type { VectorEngine } from "../types.ts";
import { type Census, createCensus } from "./census.ts";
import { type ChunkTable, createChunkTable, type IndexedChunk, type NewChunk } from "./chunks.ts";
import { type Database, openDatabase } from "./open.ts";
import { type FileRecord, file, mark } from "./schema.ts";
import { createTellingTerms, type TellingTo } from "./telling-terms.ts";
import { createTermIndex, type TermIndex } from "./terms.ts";
import { createVectorTable, type VectorTable } from "./vectors.ts";

/**
 * The SQLite file in which chunks are found. It can be thrown away at any time: notes and conversations are elsewhere,
 * and `files` and `marks` say how far they were read.
 */
export interface MemoryIndex {
  readonly chunks: Omit<ChunkTable, "add" | "remove">;
  readonly terms: Pick<TermIndex, "frequencies" | "occurrences" | "opened">;
  readonly census: Omit<Census, "adjust">;
  readonly tellingTo: TellingTo;
  readonly vectors: VectorTable;
  files(): FileRecord[];
  /** Notes that a file was read; its chunks were added before. */
  putFile(read: FileRecord): void;
  addChunks(chunks: readonly NewChunk[]): void;
  removeChunks(chunks: readonly IndexedChunk[]): void;
  /** Once its chunks are removed. */
  removeFile(path: string): void;
  /** How far the conversations were read. */
  readonly marks: Marks;
  /** Turns with the id of an earlier one take its place. */
  addTurns(turns: readonly NewChunk[], marks: ReadonlyMap<string, string>): void;
  /** Removes turns, and leaves nothing in the file of them and of what was removed before. */
  forget(turns: readonly string[]): void;
  close(): void;
}

export function openMemoryIndex(
  path: string,
  loadVectors?: (database: Database) => VectorEngine,
): MemoryIndex {
  const database = openDatabase(path);
  const { db, raw } = database;
  const termIndex = createTermIndex(database);
  const census = createCensus(database);
  const chunks = createChunkTable(database, termIndex, census);
  const vectors = createVectorTable(database, loadVectors?.(database) ?? "float32");
  const writing = <T>(work: () => T): T => raw.transaction(work).immediate();

  const putFile = db
    .insert(file)
    .values({
      path: sql.placeholder("path"),
      size: sql.placeholder("size"),
      changedAt: sql.placeholder("changedAt"),
      hash: sql.placeholder("hash"),
    })
    .onConflictDoUpdate({
      target: file.path,
      set: { size: sql`excluded.size`, changedAt: sql`excluded.changed_at`, hash: sql`excluded.hash` },
    })
    .prepare();
  const removeFile = db
    .delete(file)
    .where(eq(file.path, sql.placeholder("path")))
    .prepare();
  const readMark = db
    .select()
    .from(mark)
    .where(eq(mark.name, sql.placeholder("name")))
    .prepare();
  const writeMark = db
    .insert(mark)
    .values({ name: sql.placeholder("name"), value: sql.placeholder("value") })
    .onConflictDoUpdate({ target: mark.name, set: { value: sql`excluded.value` } })
    .prepare();

  return {
    chunks,
    terms: termIndex,
    census,
    tellingTo: createTellingTerms(census, termIndex),
    vectors,
    files: () => db.select().from(file).all(),
    putFile: (read) => void writing(() => putFile.run({ ...read })),
    addChunks: (made) => writing(() => chunks.add(made)),
    removeChunks: (old) => writing(() => chunks.remove(old)),
    removeFile: (path) => void writing(() => removeFile.run({ path })),
    marks: { get: (name) => readMark.get({ name })?.value },
    addTurns(turns, marks) {
      writing(() => {
        const latest = new Map(turns.map((turn) => [turn.id, turn]));
        chunks.remove(chunks.byIds([...latest.keys()]));
        chunks.add([...latest.values()]);
        for (const [name, value] of marks) writeMark.run({ name, value });
      });
    },
    forget(turns) {
      writing(() => {
        chunks.remove(chunks.byIds(turns));
        vectors.removeUnused();
        termIndex.compact();
      });
      raw.pragma("wal_checkpoint(TRUNCATE)");
    },
    close: () => raw.close(),
  };
}
