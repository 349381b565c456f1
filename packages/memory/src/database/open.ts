import fs from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { getTableColumns, sql } from "drizzle-orm";
import { type BetterSQLite3Database, drizzle } from "drizzle-orm/better-sqlite3";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { migrations } from "../migrations.ts";

/** Raised whenever texts are cut into other terms or chunks than before: an index of another version is made anew. */
const TEXT_VERSION = 3;
/** While another process writes. */
const BUSY_MS = 5_000;
const CACHE_KIB = 8_192;

export interface Database {
  readonly raw: Sqlite.Database;
  readonly db: BetterSQLite3Database;
}

/**
 * Opens the index, making it where there is none. It holds nothing that is not elsewhere, so one that is damaged or of
 * another version is thrown away, and filled again by its owner.
 */
export function openDatabase(path: string): Database {
  if (path !== ":memory:") {
    // Conversations are nobody else's business; the log files inherit the file's mode.
    fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (!isUsable(path)) removeDatabase(path);
    fs.closeSync(fs.openSync(path, "a", 0o600));
  }
  const raw = new Sqlite(path, { timeout: BUSY_MS });
  try {
    raw.pragma("journal_mode = WAL");
    // What a crash of the machine takes from the end is read again from where it came.
    raw.pragma("synchronous = NORMAL");
    raw.pragma("temp_store = MEMORY");
    raw.pragma(`cache_size = -${CACHE_KIB}`);
    // What is forgotten leaves nothing in free pages.
    raw.pragma("secure_delete = ON");
    raw.transaction(() => makeTables(raw)).immediate();
    return { raw, db: drizzle(raw, { casing: "snake_case" }) };
  } catch (error) {
    raw.close();
    throw error;
  }
}

/** Inserts whole rows; a key of SQLite's own is left to it. */
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

/** A number that is another one once another connection, also of another process, has written. */
export function foreignVersion(raw: Sqlite.Database): () => number | undefined {
  const version = raw.prepare<[], number>("PRAGMA data_version").pluck();
  return () => version.get();
}

/** Keeps what was read until this connection, or another one, writes. */
export function untilWritten<T>(raw: Sqlite.Database, read: () => T): () => T {
  const version = foreignVersion(raw);
  const writes = raw.prepare<[], number>("SELECT total_changes()").pluck();
  let kept: { readonly state: string; readonly value: T } | undefined;
  return () => {
    const state = `${version()} ${writes.get()}`;
    if (kept?.state !== state) kept = { state, value: read() };
    return kept.value;
  };
}

/** Whether an error means that the file is no database any more, or not all of it. */
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
  // Another process may have been faster.
  if (raw.pragma("user_version", { simple: true }) === version()) return;
  for (const statements of migrations()) raw.exec(statements);
  raw.pragma(`user_version = ${version()}`);
}

function version(): number {
  return TEXT_VERSION * 1_000 + migrations().length;
}
