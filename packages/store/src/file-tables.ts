import { connect } from "./connection.ts";
import { MOVED_ID } from "./migrate.ts";

/** A row of a table, by the names of its columns. */
export type StoredRow = Readonly<Record<string, string | number | Buffer | null>>;

/** The tables of a file that no gateway uses, for a copy into another database. */
export interface FileTables {
  /** Returns the rows of a query, one by one. */
  rows(query: string): IterableIterator<StoredRow>;
  /** Marks the file as moved. No release opens it after that. */
  markMoved(): void;
  close(): void;
}

/**
 * Opens the tables of a database file, which is migrated to the version of this release first.
 *
 * @throws StoreNewerError, StoreError `corrupt`, `invalid`, `locked`
 */
export function openFileTables(path: string): FileTables {
  const raw = connect(path, "own");
  return {
    rows: (query) => raw.prepare<[], StoredRow>(query).iterate(),
    markMoved() {
      raw.pragma(`application_id = ${MOVED_ID}`);
      raw.pragma("wal_checkpoint(TRUNCATE)");
    },
    close: () => void raw.close(),
  };
}
