/**
 * `store_newer` the file was written by a later version · `store_older` by an earlier one, and was not to be migrated ·
 * `fenced` the lease is not current · `busy` a run holds the session · `conflict` the row is not in a state that allows
 * this · `not_found` · `disk_full` nothing was written, later calls work once there is space · `io` the disk failed;
 * the store must be opened again · `corrupt` the file is damaged or no database · `closed` · `invalid` a value the
 * store cannot keep · `home_held` another process runs on this home · `locked` another process kept the database
 * locked for too long.
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
  | "locked";

const MARK = Symbol.for("signalbox.store.error");

/**
 * Every error that the store rejects with. The message is one sentence for people, with a remedy if there is one.
 * Recognise it with {@link isStoreError}, which also works across copies of this package.
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

/** Whether `error` is a {@link StoreError}, of this copy of the package or another. */
export function isStoreError(error: unknown): error is StoreError {
  return error instanceof Error && MARK in error;
}

/** The failure of the store that is behind an error, by itself or as its cause. */
export function storeErrorIn(error: unknown): StoreError | undefined {
  const cause = error instanceof Error && isStoreError(error.cause) ? error.cause : error;
  return isStoreError(cause) ? cause : undefined;
}

/** The presented lease is no longer current: another process continues the work. Nothing was written. */
export class FencedError extends StoreError {
  readonly lease: string;
  /** The epoch presented. */
  readonly epoch: number;

  constructor(lease: string, epoch: number, message: string) {
    super("fenced", message);
    this.name = "FencedError";
    this.lease = lease;
    this.epoch = epoch;
  }
}

/** The database was written by a later version of the store. */
export class StoreNewerError extends StoreError {
  readonly file: string;
  readonly fileVersion: number;
  readonly supportedVersion: number;

  constructor(file: string, fileVersion: number, supportedVersion: number) {
    super(
      "store_newer",
      `${file} has schema version ${fileVersion}, and this program knows versions up to ${supportedVersion}: ` +
        "run the newer release that wrote it, or restore a backup made before the upgrade.",
    );
    this.name = "StoreNewerError";
    this.file = file;
    this.fileVersion = fileVersion;
    this.supportedVersion = supportedVersion;
  }
}

/** Another live process works on the same home. */
export class HomeHeldError extends StoreError {
  readonly home: string;
  /** Absent when the holder has not written down who it is yet. */
  readonly pid: number | undefined;
  readonly host: string | undefined;
  /** When the holder started, milliseconds since the epoch. */
  readonly since: number | undefined;

  constructor(home: string, holder: { pid?: number; host?: string; since?: number }) {
    const who = holder.pid === undefined ? "another process" : `process ${holder.pid}`;
    const where = holder.host === undefined ? "" : ` on ${holder.host}`;
    const since = holder.since === undefined ? "" : ` since ${new Date(holder.since).toISOString()}`;
    super("home_held", `${home} is held by ${who}${where}${since}: stop it, or use another home.`);
    this.name = "HomeHeldError";
    this.home = home;
    this.pid = holder.pid;
    this.host = holder.host;
    this.since = holder.since;
  }
}

/** Whether this process can no longer use the store: another process holds its lease, or the disk failed. */
export function isFatal(error: unknown): boolean {
  return isStoreError(error) && (error.code === "fenced" || error.code === "io");
}

/** Whether a later try may succeed: the disk was full, or another process held the lock. */
export function isPassing(error: unknown): boolean {
  return isStoreError(error) && (error.code === "disk_full" || error.code === "locked");
}
