import fs from "node:fs";
import Sqlite from "better-sqlite3";
import { toStoreError } from "./driver-errors.ts";
import { StoreError } from "./errors.ts";
import { migrate } from "./migrate.ts";

/** While opening, another process may be migrating. */
const openTimeoutMs = 5000;
/** In kibibytes. */
const cacheKib = 4096;

/**
 * Opens the database, making or migrating it where needed.
 *
 * @throws StoreNewerError, StoreError `corrupt`, `invalid`, `locked`, `disk_full`
 */
export function connect(path: string): Sqlite.Database {
  const inMemory = path === ":memory:";
  if (!inMemory) makeFile(path);
  const raw = new Sqlite(path, { timeout: openTimeoutMs });
  try {
    raw.pragma("temp_store = MEMORY");
    raw.pragma(`cache_size = -${cacheKib}`);
    raw.pragma("wal_autocheckpoint = 0");
    migrate(raw, path);
    if (!inMemory) raw.pragma("journal_mode = WAL");
    // The log is synced by `writeAheadLog`.
    raw.pragma("synchronous = NORMAL");
    raw.pragma("busy_timeout = 0");
    return raw;
  } catch (error) {
    raw.close();
    throw toStoreError(error);
  }
}

/** Conversations and pairing are nobody else's business; the log files inherit the mode. */
function makeFile(path: string): void {
  try {
    fs.closeSync(fs.openSync(path, "a", 0o600));
  } catch (cause) {
    throw new StoreError("invalid", `The database ${path} cannot be opened for writing: ${String(cause)}`, {
      cause,
    });
  }
}
