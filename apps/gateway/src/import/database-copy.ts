import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { GatewayError } from "@signalbox/home";
import Sqlite from "better-sqlite3";

/** A database of another system. */
export interface SourceDatabase {
  readonly db: Sqlite.Database;
  /** `PRAGMA user_version`. */
  readonly version: number;
  /** Returns true if the table has all of these columns. */
  has(table: string, columns: readonly string[]): boolean;
  all(sql: string, ...values: readonly unknown[]): readonly Row[];
  iterate(sql: string, ...values: readonly unknown[]): IterableIterator<Row>;
  count(table: string): number;
}

type Row = Readonly<Record<string, unknown>>;

/** Attempts to copy a file that another process writes. */
const ATTEMPTS = 3;

/** Copies databases into a private folder, because opening one in place could create files next to it. */
export interface DatabaseCopies {
  /** @throws GatewayError if the file changes while it is copied, or if it is no database */
  open(file: string): SourceDatabase;
  close(): void;
}

export function createDatabaseCopies(): DatabaseCopies {
  const open: Sqlite.Database[] = [];
  let folder: string | undefined;
  return {
    open(file) {
      folder ??= mkdtempSync(join(tmpdir(), "signalbox-import-"));
      const copy = join(folder, `${open.length}-${basename(file)}`);
      copyAtRest(file, copy);
      try {
        const db = new Sqlite(copy, { fileMustExist: true });
        open.push(db);
        db.defaultSafeIntegers(false);
        return wrap(db);
      } catch (error) {
        throw new GatewayError("failure", `${file} is not a readable SQLite database.`, { cause: error });
      }
    },
    close() {
      for (const db of open.splice(0)) db.close();
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
      folder = undefined;
    },
  };
}

/** Copies a database with its write-ahead log. The shared-memory file is created again from the log. */
function copyAtRest(file: string, to: string): void {
  const sources = () => [file, `${file}-wal`].filter((each) => existsSync(each));
  const stamp = () =>
    sources()
      .map((each) => statSync(each, { bigint: true }))
      .map(({ mtimeNs, size }) => `${mtimeNs} ${size}`)
      .join("\n");
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = stamp();
    for (const each of [to, `${to}-wal`]) rmSync(each, { force: true });
    for (const each of sources()) copyFileSync(each, `${to}${each.slice(file.length)}`);
    if (stamp() === before) return;
  }
  throw new GatewayError("failure", `${file} is being written. Stop its gateway and run this command again.`);
}

function wrap(db: Sqlite.Database): SourceDatabase {
  const name = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  return {
    db,
    version: Number(db.pragma("user_version", { simple: true })),
    has(table, columns) {
      const present = new Set(
        db
          .prepare<[string], { name: string }>("SELECT name FROM pragma_table_info(?)")
          .all(table)
          .map((column) => column.name),
      );
      return present.size > 0 && columns.every((column) => present.has(column));
    },
    all: (sql, ...values) => db.prepare<unknown[], Row>(sql).all(...values),
    iterate: (sql, ...values) => db.prepare<unknown[], Row>(sql).iterate(...values),
    count(table) {
      return db.prepare<[], { n: number }>(`SELECT count(*) AS n FROM ${name(table)}`).get()?.n ?? 0;
    },
  };
}
