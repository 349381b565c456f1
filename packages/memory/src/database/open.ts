import fs from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { getTableColumns, sql } from "drizzle-orm";
import { type BetterSQLite3Database, drizzle } from "drizzle-orm/better-sqlite3";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { migrations } from "../migrations.ts";

/**
 * Version of the text processing. Increase it when the split into terms or chunks changes. An index of another version
 * is rebuilt.
 */
const TEXT_VERSION = 3;
/** Maximum time in milliseconds to wait while another process writes. */
const BUSY_MS = 5_000;
const CACHE_KIB = 8_192;

export interface Database {
  readonly raw: Sqlite.Database;
  readonly db: BetterSQLite3Database;
}

/**
 * Opens or creates the index file. An index that is damaged or has another version is deleted, because all of its
 * content is stored elsewhere and the caller fills it again.
 */
export function openDatabase(path: string): Database {
  if (path !== ":memory:") {
    // The file contains private conversations: mode 0600. SQLite gives `-wal` and `-shm` the same mode.
    fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (!isUsable(path)) removeDatabase(path);
    fs.closeSync(fs.openSync(path, "a", 0o600));
  }
  const raw = new Sqlite(path, { timeout: BUSY_MS });
  try {
    raw.pragma("journal_mode = WAL");
    // Transactions lost in a power failure are read again from the files.
    raw.pragma("synchronous = NORMAL");
    raw.pragma("temp_store = MEMORY");
    raw.pragma(`cache_size = -${CACHE_KIB}`);
    // Overwrite deleted text in free pages.
    raw.pragma("secure_delete = ON");
    raw.transaction(() => makeTables(raw)).immediate();
    return { raw, db: drizzle(raw, { casing: "snake_case" }) };
  } catch (error) {
    raw.close();
    throw error;
  }
}

/** Prepares an insert of whole rows. SQLite assigns `n`. */
export function prepareInsert<Table extends SQLiteTable>(
  db: BetterSQLite3Database,
  table: Table,
): { run(row: Table["$inferInsert"]): Sqlite.RunResult } {
  const names = Object.keys(getTableColumns(table)).filter((name) => name !== "n");
  const values = Object.fromEntries(names.map((name) => [name, sql.placeholder(name)]));
  return db
    .insert(table as SQLiteTable)
    .values(values)
    .prepare();
}

/** Returns a number that changes when another connection, even of another process, has written. */
export function foreignVersion(raw: Sqlite.Database): () => number | undefined {
  const version = raw.prepare<[], number>("PRAGMA data_version").pluck();
  return () => version.get();
}

/** Caches a result until this connection or another one writes. */
export function untilWritten<T>(raw: Sqlite.Database, read: () => T): () => T {
  const version = foreignVersion(raw);
  const writes = raw.prepare<[], number>("SELECT total_changes()").pluck();
  let cached: { readonly state: string; readonly value: T } | undefined;
  return () => {
    const state = `${version()} ${writes.get()}`;
    if (cached?.state !== state) cached = { state, value: read() };
    return cached.value;
  };
}

/** Returns true if an error means that the file is damaged or not a database. */
export function isDamage(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB" || code === "SQLITE_IOERR_SHORT_READ";
}

export function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) fs.rmSync(`${path}${suffix}`, { force: true });
}

function isUsable(path: string): boolean {
  if (!fs.existsSync(path) || fs.statSync(path).size === 0) return true;
  let raw: Sqlite.Database | undefined;
  try {
    raw = new Sqlite(path, { timeout: BUSY_MS });
    return raw.pragma("user_version", { simple: true }) === version();
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  } finally {
    raw?.close();
  }
}

function makeTables(raw: Sqlite.Database): void {
  // Another process may have created the tables in the meantime.
  if (raw.pragma("user_version", { simple: true }) === version()) return;
  for (const statements of migrations()) raw.exec(statements);
  raw.pragma(`user_version = ${version()}`);
}

function version(): number {
  return TEXT_VERSION * 1_000 + migrations().length;
}
