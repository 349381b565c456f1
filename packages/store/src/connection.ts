import fs from "node:fs";
import Sqlite from "better-sqlite3";
import { toStoreError } from "./driver-errors.ts";
import { StoreError } from "./errors.ts";
import { migrate, requireVersion } from "./migrate.ts";
import type { Logger } from "./types/logger.ts";
import type { StoreAccess } from "./types/store.ts";

/** Time limit for opening the file, in milliseconds. Another process may be migrating it. */
const openTimeoutMs = 5000;
/** Page cache of the connection, in KiB. */
const cacheKib = 4096;
/**
 * Page size of a new file, in bytes. An existing file keeps its page size. A commit writes whole pages, usually for
 * only one or two rows. Pages of 2 KiB write 37 % fewer bytes per message than SQLite's default of 4 KiB.
 */
export const PAGE_BYTES = 2048;

/**
 * Opens the database.
 *
 * @throws StoreNewerError, StoreError `store_older`, `corrupt`, `invalid`, `locked`, `disk_full`
 */
export function connect(path: string, access: StoreAccess, logger?: Pick<Logger, "info">): Sqlite.Database {
  const inMemory = path === ":memory:";
  if (access === "own" && !inMemory) makeFile(path);
  const raw = openFile(path, access);
  try {
    raw.pragma("temp_store = MEMORY");
    raw.pragma(`cache_size = -${cacheKib}`);
    raw.pragma("wal_autocheckpoint = 0");
    if (access === "own") {
      raw.pragma(`page_size = ${PAGE_BYTES}`);
      const migration = migrate(raw, path);
      if (migration !== undefined && migration.from > 0)
        logger?.info({ ...migration, path }, "the database was migrated to this release's version");
      if (!inMemory) raw.pragma("journal_mode = WAL");
    } else {
      requireVersion(raw, path);
    }
    // `writeAheadLog` syncs the log itself.
    raw.pragma("synchronous = NORMAL");
    raw.pragma("busy_timeout = 0");
    return raw;
  } catch (error) {
    raw.close();
    throw toStoreError(error);
  }
}

function openFile(path: string, access: StoreAccess): Sqlite.Database {
  try {
    return new Sqlite(path, {
      timeout: openTimeoutMs,
      fileMustExist: access !== "own",
      readonly: access === "read",
    });
  } catch (cause) {
    throw cannotOpen(path, cause);
  }
}

function cannotOpen(path: string, cause: unknown): StoreError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const remedy = "Check that its folder exists and that this user may write to it.";
  return new StoreError("invalid", `The database ${path} cannot be opened (${reason}). ${remedy}`, { cause });
}

/** Creates the database with mode 0600. SQLite gives the `-wal` and `-shm` files the same mode. */
function makeFile(path: string): void {
  try {
    fs.closeSync(fs.openSync(path, "a", 0o600));
  } catch (cause) {
    throw cannotOpen(path, cause);
  }
}
