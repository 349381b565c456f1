import { isStoreError, StoreError } from "./errors.ts";

/** Returns the `code` of an SQLite or Node.js error, or an empty string. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Returns whether the error means that another process holds the lock. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith("SQLITE_BUSY");
}

/** Converts an error from the driver or the file system to a {@link StoreError}. Returns other errors unchanged. */
export function toStoreError(error: unknown): unknown {
  if (isStoreError(error)) return error;
  const code = codeOf(error);
  const text = error instanceof Error ? error.message : String(error);
  if (code === "SQLITE_FULL" || code === "ENOSPC" || code === "EDQUOT") {
    return new StoreError(
      "disk_full",
      `There is no space left for the database (${text}). Nothing was written. Free some space.`,
      {
        cause: error,
      },
    );
  }
  if (code.startsWith("SQLITE_READONLY")) {
    return new StoreError("invalid", "The store is read-only.", { cause: error });
  }
  if (code.startsWith("SQLITE_BUSY")) {
    return new StoreError("locked", "Another process kept the database locked for too long.", {
      cause: error,
    });
  }
  if (code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB") {
    return new StoreError(
      "corrupt",
      `The database file is damaged or not a database (${text}). Restore a backup.`,
      {
        cause: error,
      },
    );
  }
  if (code.startsWith("SQLITE_IOERR") || code === "EIO") {
    return new StoreError(
      "io",
      `The database could not be read or written because of a disk I/O error (${text}).`,
      { cause: error },
    );
  }
  return error;
}
