import { setImmediate } from "node:timers/promises";
import { eq, sql } from "drizzle-orm";
import type { Marks } from "../turns/turn-log.ts";
import type { VectorEngine } from "../types.ts";
import { type Census, createCensus } from "./census.ts";
import { type ChunkTable, createChunkTable, type IndexedChunk, type NewChunk } from "./chunks.ts";
import { type Database, openDatabase } from "./open.ts";
import { type FileRecord, file, mark } from "./schema.ts";
import { createTermIndex, type TermIndex } from "./terms.ts";
import { createVectorTable, type VectorTable } from "./vectors.ts";

/**
 * The SQLite file with the search index. It can be deleted at any time, because notes and conversations are stored
 * elsewhere. `files` and `marks` record the indexed state of both.
 */
export interface MemoryIndex {
  readonly chunks: Omit<ChunkTable, "add" | "remove">;
  readonly terms: Pick<TermIndex, "frequencies" | "occurrences" | "opened">;
  readonly census: Omit<Census, "adjust">;
  readonly vectors: VectorTable;
  files(): FileRecord[];
  /** Records that a file is indexed. Add its chunks first. */
  putFile(indexed: FileRecord): void;
  addChunks(chunks: readonly NewChunk[]): void;
  removeChunks(chunks: readonly IndexedChunk[]): void;
  /** Removes the record of a file. Remove its chunks first. */
  removeFile(path: string): void;
  /** Positions up to which the conversations are indexed. */
  readonly marks: Marks;
  /** Adds turns. A turn with the id of an earlier one replaces it. */
  addTurns(turns: readonly NewChunk[], marks: ReadonlyMap<string, string>): void;
  /** Removes turns, then purges everything that was removed so far from the file. Yields to the event loop. */
  forget(turns: readonly string[]): Promise<void>;
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
    vectors,
    files: () => db.select().from(file).all(),
    putFile: (indexed) => void writing(() => putFile.run({ ...indexed })),
    addChunks: (added) => writing(() => chunks.add(added)),
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
    async forget(turns) {
      writing(() => {
        chunks.remove(chunks.byIds(turns));
        vectors.removeUnused();
      });
      let isFirst = true;
      while (writing(() => termIndex.mergeSome(isFirst))) {
        isFirst = false;
        await setImmediate();
      }
      raw.pragma("wal_checkpoint(TRUNCATE)");
    },
    close: () => raw.close(),
  };
}
