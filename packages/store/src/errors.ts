/**
 * - `store_newer`: a later release wrote the file
 * - `store_older`: an earlier release wrote the file, and the caller did not allow a migration
 * - `fenced`: the lease is no longer current
 * - `busy`: a run holds the session
 * - `conflict`: the row is in a state that does not allow the change
 * - `not_found`
 * - `disk_full`: nothing was written; later calls succeed once there is space
 * - `io`: the disk failed; the store must be opened again
 * - `corrupt`: the file is damaged or not a database
 * - `closed`: the store was closed
 * - `invalid`: a value that the store cannot keep, or a file that cannot be opened
 * - `home_held`: another process uses this home
 * - `locked`: another process kept the database locked for too long
 * - `unreachable`: the database server cannot be reached; nothing was written, and later calls may succeed
 */
export type StoreErrorCode =
  | "store_newer"
  | "store_older"
  | "fenced"
  | "busy"
  | "conflict"
  | "not_found"
  | "disk_full"
  | "io"
  | "corrupt"
  | "closed"
  | "invalid"
  | "home_held"
  | "locked"
  | "unreachable";

const MARK = Symbol.for("signalbox.store.error");

/**
 * The error with which every store method rejects. Its message is a sentence for people, with a remedy if there is one.
 * Recognize it with {@link isStoreError}, which also works across copies of this package.
 */
export class StoreError extends Error {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreError";
    this.code = code;
    Object.defineProperty(this, MARK, { value: true });
  }
}

/** Returns whether `error` is a {@link StoreError} from this copy of the package or another one. */
export function isStoreError(error: unknown): error is StoreError {
  return error instanceof Error && MARK in error;
}

/** Returns `error` or its cause, whichever is a {@link StoreError}, if any. */
export function getStoreError(error: unknown): StoreError | undefined {
  const cause = error instanceof Error && isStoreError(error.cause) ? error.cause : error;
  return isStoreError(cause) ? cause : undefined;
}

/** The given lease is no longer current because another process took over the work. Nothing was written. */
export class FencedError extends StoreError {
  readonly lease: string;
  /** The epoch of the given lease. */
  readonly epoch: number;

  constructor(lease: string, epoch: number, message: string) {
    super("fenced", message);
    this.name = "FencedError";
    this.lease = lease;
    this.epoch = epoch;
  }
}

/** The database was written by a later release of the store. */
export class StoreNewerError extends StoreError {
  readonly file: string;
  readonly fileVersion: number;
  readonly supportedVersion: number;

  constructor(file: string, fileVersion: number, supportedVersion: number) {
    super(
      "store_newer",
      `${file} has schema version ${fileVersion}, but this release supports versions up to ${supportedVersion}. ` +
        "Run the newer release, or restore a backup from before the upgrade.",
    );
    this.name = "StoreNewerError";
    this.file = file;
    this.fileVersion = fileVersion;
    this.supportedVersion = supportedVersion;
  }
}

/** Another running process uses the same home. */
export class HomeHeldError extends StoreError {
  readonly home: string;
  /** Absent if the holder has not written its details yet. */
  readonly pid: number | undefined;
  readonly host: string | undefined;
  /** When the holder started, in milliseconds since the epoch. */
  readonly since: number | undefined;

  constructor(home: string, holder: { pid?: number; host?: string; since?: number }) {
    const who = holder.pid === undefined ? "another process" : `process ${holder.pid}`;
    const where = holder.host === undefined ? "" : ` on ${holder.host}`;
    const since = holder.since === undefined ? "" : ` since ${new Date(holder.since).toISOString()}`;
    super("home_held", `${home} is in use by ${who}${where}${since}. Stop it, or use another home.`);
    this.name = "HomeHeldError";
    this.home = home;
    this.pid = holder.pid;
    this.host = holder.host;
    this.since = holder.since;
  }
}

/**
 * Returns whether this process can no longer use the store, because another process holds its lease or the disk failed.
 */
export function isFatal(error: unknown): boolean {
  return isStoreError(error) && (error.code === "fenced" || error.code === "io");
}

const RETRYABLE: readonly StoreErrorCode[] = ["disk_full", "locked", "unreachable"];

/**
 * Returns whether a retry may succeed, because the disk was full, another process held the lock, or the database server
 * could not be reached.
 */
export function isRetryable(error: unknown): boolean {
  return isStoreError(error) && RETRYABLE.includes(error.code);
}
