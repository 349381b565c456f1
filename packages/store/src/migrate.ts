import fs from "node:fs";
import { fileURLToPath } from "node:url";
import type Sqlite from "better-sqlite3";
import { getTableColumns, getTableName, is } from "drizzle-orm";
import { SQLiteTable } from "drizzle-orm/sqlite-core";
import { snakeCase } from "./database.ts";
import { StoreError, StoreNewerError } from "./errors.ts";
import * as schema from "./schema/index.ts";

/** "SGBX": tells our databases from anybody else's. */
const applicationId = 0x53474258;

/**
 * Made by drizzle-kit; a database of version n has had the first n. Found by the package's name, as a host may bundle
 * this code.
 */
const migrationsFolder = fileURLToPath(new URL("../migrations", import.meta.resolve("@signalbox/store")));

/** The names of the migrations, in order. */
function migrations(): string[] {
  const journal: { entries: { tag: string }[] } = JSON.parse(
    fs.readFileSync(`${migrationsFolder}/meta/_journal.json`, "utf8"),
  );
  return journal.entries.map(({ tag }) => tag);
}

/** The version a database has after {@link migrate}. */
export function schemaVersion(): number {
  return migrations().length;
}

function pragmaNumber(raw: Sqlite.Database, name: string): number {
  return Number(raw.pragma(name, { simple: true }));
}

/** Versions of a database. */
export interface Migration {
  /** 0 where it was made anew. */
  readonly from: number;
  readonly to: number;
}

/**
 * Brings the database to {@link schemaVersion}, all steps in one transaction. Undefined where it was there already.
 *
 * @throws StoreNewerError when it is beyond that; StoreError `corrupt` when it is no database of the store, or has not
 * what one of its version has
 */
export function migrate(raw: Sqlite.Database, path: string): Migration | undefined {
  const target = schemaVersion();
  if (checkedVersion(raw, path, target) === target) return undefined;
  return raw
    .transaction(() => {
      const from = pragmaNumber(raw, "user_version");
      // Another process may have been faster.
      if (from === target) return undefined;
      for (const name of migrations().slice(from))
        raw.exec(fs.readFileSync(`${migrationsFolder}/${name}.sql`, "utf8"));
      requireColumns(raw, path, from);
      raw.pragma(`application_id = ${applicationId}`);
      raw.pragma(`user_version = ${target}`);
      return { from, to: target };
    })
    .immediate();
}

/**
 * Checks that the database is of {@link schemaVersion}, and changes nothing.
 *
 * @throws StoreNewerError; StoreError `store_older`, `corrupt`
 */
export function requireVersion(raw: Sqlite.Database, path: string): void {
  const target = schemaVersion();
  const version = checkedVersion(raw, path, target);
  if (version === target) return;
  throw new StoreError(
    "store_older",
    `${path} has schema version ${version}, and this program reads version ${target}: start the gateway of this ` +
      "release, which brings it up to date, or use the release that wrote it.",
  );
}

function checkedVersion(raw: Sqlite.Database, path: string, target: number): number {
  const version = pragmaNumber(raw, "user_version");
  const tables = raw.prepare<[], number>("SELECT count(*) FROM sqlite_schema").pluck().get() ?? 0;
  if (tables > 0 && pragmaNumber(raw, "application_id") !== applicationId) {
    throw new StoreError("corrupt", `${path} is a database of another program: name another file.`);
  }
  if (version > target) throw new StoreNewerError(path, version, target);
  return version;
}

/** A database changed by hand, or by a program from before the first release, may not be what it says it is. */
function requireColumns(raw: Sqlite.Database, path: string, from: number): void {
  const columnsOf = raw.prepare<[string], string>("SELECT name FROM pragma_table_info(?)").pluck();
  for (const table of Object.values(schema)) {
    if (!is(table, SQLiteTable)) continue;
    const name = getTableName(table);
    const has = new Set(columnsOf.all(name));
    const lacking = Object.values(getTableColumns(table)).find((column) => !has.has(snakeCase(column.name)));
    if (lacking === undefined) continue;
    throw new StoreError(
      "corrupt",
      `${path} says that it has schema version ${from}, and has no column ${snakeCase(lacking.name)} in its table ` +
        `${name}: restore a backup, or move the file away and start anew.`,
    );
  }
}
