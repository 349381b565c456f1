import { isStoreError, StoreError } from "@signalbox/store/errors";
import { DrizzleQueryError } from "drizzle-orm/errors";

/** SQLSTATE codes and classes after which the connection cannot be used, or the server accepts no work. */
const UNREACHABLE = /^(?:08|57P0[1-5]|25P0[34]|25006|53[34]|58000)/;
/**
 * Serialization failures, deadlocks and violations of a unique index by a row that another transaction inserted at the
 * same time. The transaction was rolled back and can be repeated.
 */
const CONFLICT = new Set(["40001", "40P01", "23505"]);
/** Timeouts of a statement or a lock. */
const LOCKED = new Set(["57014", "55P03"]);
/** System errors of Node.js when a server cannot be reached. */
const NETWORK = /^E(?:CONN|PIPE|TIMEDOUT|HOST|NET|AI_AGAIN|NOTFOUND)/;
/** Errors of the driver without a code. */
const LOST =
  /^(?:Connection terminated|Client (?:has encountered a connection error|was closed)|timeout exceeded when trying to connect|Query read timeout|timeout expired)/;

/** Returns the error of the driver. Drizzle wraps it in an error whose message contains all parameters. */
function causeOf(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? error.cause : error;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Returns true if the connection to the server was lost, could not be opened, or was closed by the server. */
export function isConnectionError(failure: unknown): boolean {
  const error = causeOf(failure);
  const code = codeOf(error);
  if (error instanceof AggregateError) return error.errors.some(isConnectionError);
  return UNREACHABLE.test(code) || NETWORK.test(code) || (error instanceof Error && LOST.test(error.message));
}

/** Returns true if the server rolled the transaction back because it conflicted with another one. */
export function isConflict(failure: unknown): boolean {
  return CONFLICT.has(codeOf(causeOf(failure)));
}

/** Converts an error of the driver to a {@link StoreError}. Returns other errors unchanged. */
export function toStoreError(failure: unknown): unknown {
  if (isStoreError(failure)) return failure;
  const cause = causeOf(failure);
  const code = codeOf(cause);
  const text = cause instanceof Error ? cause.message || code : String(cause);
  if (isConnectionError(cause)) {
    return new StoreError(
      "unreachable",
      `The database server cannot be reached (${text}). Nothing was written. Check that it runs and that store.url is right.`,
      { cause },
    );
  }
  if (isConflict(cause) || LOCKED.has(code))
    return new StoreError("locked", `Other transactions kept rows locked for too long (${text}).`, { cause });
  if (code === "53100") {
    return new StoreError(
      "disk_full",
      `There is no space left on the database server (${text}). Nothing was written. Free some space.`,
      { cause },
    );
  }
  if (code.startsWith("XX00"))
    return new StoreError("corrupt", `The database is damaged (${text}). Restore a backup.`, { cause });
  if (code === "54001" || code.startsWith("22"))
    return new StoreError("invalid", `The database cannot store a value (${text}).`, { cause });
  return cause;
}
