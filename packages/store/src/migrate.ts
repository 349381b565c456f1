import fs from "node:fs";
import type Sqlite from "better-sqlite3";
import { StoreError, StoreNewerError } from "./errors.ts";

/** In order; a database of version n has had the first n. Never change one that was released. */
const migrations = ["0001_start.sql", "0002_account.sql", "0003_answers.sql"];

/** "SGBX": tells our databases from anybody else's. */
const applicationId = 0x53474258;

/** The version a database has after `migrate`. */
export const schemaVersion: number = migrations.length;

function pragmaNumber(raw: Sqlite.Database, name: string): number {
  return Number(raw.pragma(name, { simple: true }));
}

/**
 * Brings the database to {@link schemaVersion}, all steps in one transaction.
 *
 * @throws StoreNewerError when it is beyond that; StoreError `corrupt` when it is no database of the store
 */
export function migrate(raw: Sqlite.Database, path: string): void {
  const version = pragmaNumber(raw, "user_version");
  if (version > schemaVersion) throw new StoreNewerError(path, version, schemaVersion);
  const tables = raw.prepare<[], number>("SELECT count(*) FROM sqlite_schema").pluck().get() ?? 0;
  if (tables > 0 && pragmaNumber(raw, "application_id") !== applicationId) {
    throw new StoreError("corrupt", `${path} is a database of another program: name another file.`);
  }
  if (version === schemaVersion) return;

  raw
    .transaction(() => {
      // Another process may have been faster.
      const from = pragmaNumber(raw, "user_version");
      for (const name of migrations.slice(from)) {
        raw.exec(fs.readFileSync(new URL(`../migrations/${name}`, import.meta.url), "utf8"));
      }
      raw.pragma(`application_id = ${applicationId}`);
      raw.pragma(`user_version = ${schemaVersion}`);
    })
    .immediate();
}
