import type Sqlite from "better-sqlite3";
import { StoreError } from "./errors.ts";
import type { FaultPoint } from "./types/store.ts";

/** What a statement can bind. */
type SqlValue = string | number | Uint8Array | null;

/** A prepared statement; prepared when first used. */
interface Query<Params extends readonly SqlValue[], Row> {
  get(...params: Params): Row | undefined;
  all(...params: Params): Row[];
}

/** A prepared statement that writes. */
interface Command<Params extends readonly SqlValue[]> {
  /** Gives the number of rows changed. */
  run(...params: Params): number;
}

/** One connection, its statements and its fault hook. */
export interface Database {
  readonly raw: Sqlite.Database;
  query<Params extends readonly SqlValue[], Row>(sql: string): Query<Params, Row>;
  command<Params extends readonly SqlValue[]>(sql: string): Command<Params>;
  readonly fault: (point: FaultPoint) => void;
}

/** The driver takes `?1`, `?2` for names: they are bound through an object with those keys. */
function binder(sql: string): (params: readonly SqlValue[]) => readonly unknown[] {
  if (!sql.includes("?1")) return (params) => params;
  return (params) => [Object.fromEntries(params.map((value, index) => [index + 1, value]))];
}

export function wrapDatabase(raw: Sqlite.Database, faults?: (point: FaultPoint) => void): Database {
  return {
    raw,
    fault: faults ?? (() => {}),
    query<Params extends readonly SqlValue[], Row>(sql: string): Query<Params, Row> {
      let statement: Sqlite.Statement<unknown[], Row> | undefined;
      const prepared = () => {
        statement ??= raw.prepare<unknown[], Row>(sql);
        return statement;
      };
      const bind = binder(sql);
      return {
        get: (...params) => prepared().get(...bind(params)),
        all: (...params) => prepared().all(...bind(params)),
      };
    },
    command<Params extends readonly SqlValue[]>(sql: string): Command<Params> {
      let statement: Sqlite.Statement<unknown[]> | undefined;
      const bind = binder(sql);
      return {
        run(...params) {
          faults?.("write");
          statement ??= raw.prepare<unknown[]>(sql);
          return statement.run(...bind(params)).changes;
        },
      };
    },
  };
}

/** The `code` of an error of SQLite or of Node. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Somebody else holds the write lock: try again. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith("SQLITE_BUSY");
}

/** What the caller is told instead of a driver's error. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof StoreError) return error;
  const code = codeOf(error);
  const text = error instanceof Error ? error.message : String(error);
  if (code === "SQLITE_FULL" || code === "ENOSPC" || code === "EDQUOT") {
    return new StoreError(
      "disk_full",
      `No space left for the database (${text}): free some; nothing was written.`,
      {
        cause: error,
      },
    );
  }
  if (code.startsWith("SQLITE_BUSY")) {
    return new StoreError("locked", "Another process kept the database locked for too long.", {
      cause: error,
    });
  }
  if (code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB") {
    return new StoreError(
      "corrupt",
      `The database file is damaged or no database (${text}): restore a backup.`,
      {
        cause: error,
      },
    );
  }
  if (code.startsWith("SQLITE_IOERR") || code === "EIO") {
    return new StoreError("io", `The disk failed under the database (${text}).`, { cause: error });
  }
  return error;
}
