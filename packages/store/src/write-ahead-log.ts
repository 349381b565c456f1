import fs from "node:fs";
import { promisify } from "node:util";
import Sqlite from "better-sqlite3";
import type { Logger } from "./types/logger.ts";

const fsync = promisify(fs.fsync);

/** Size of the log at which a checkpoint begins, in bytes. */
const checkpointBytes = 16_000_000;

export interface WriteAheadLog {
  /** Syncs the log. When this resolves, everything committed before the call is durable. */
  sync(): Promise<void>;
  /** Runs a checkpoint if the log is long. Call it only between two batches. */
  tend(): Promise<void> | undefined;
  /** Runs a checkpoint. Call it only between two batches. */
  checkpoint(): Promise<void>;
  /** Empties the log after a checkpoint, unless another connection is reading it. Call it only between two batches. */
  truncate(): void;
  /** Suspends checkpoints while `work` copies the log in another thread. */
  leaveTo<R>(work: () => Promise<R>): Promise<R>;
  bytes(): number;
  /** Call this before closing the connection, and call the returned function afterwards. */
  close(): () => void;
}

interface Progress {
  readonly log: number;
  readonly checkpointed: number;
}

/**
 * Syncs the write-ahead log outside the event loop, which SQLite's own syncs would block. The connection runs with
 * `synchronous=NORMAL` (a commit writes the log without a sync), and this class syncs the log on libuv's thread pool
 * before a call resolves. The caller gets the guarantee of `synchronous=FULL`.
 *
 * The descriptors opened here stay open until the connection is closed, because closing any descriptor of a file
 * releases all POSIX locks that the process holds on it.
 */
export function writeAheadLog(
  raw: Sqlite.Database,
  path: string,
  logger?: Pick<Logger, "warn">,
): WriteAheadLog {
  return new CheckpointedLog(raw, path, logger);
}

class CheckpointedLog implements WriteAheadLog {
  readonly #raw: Sqlite.Database;
  readonly #path: string;
  readonly #logger: Pick<Logger, "warn"> | undefined;
  readonly #look: Sqlite.Statement<[], Progress>;
  /** Number of frames at which a checkpoint begins. A frame holds one page. */
  readonly #checkpointFrames: number;
  readonly #beginRead: Sqlite.Statement;
  readonly #takeSnapshot: Sqlite.Statement;
  readonly #endRead: Sqlite.Statement;
  #logFile: number | undefined;
  #databaseFile: number | undefined;
  #copier: Sqlite.Database | undefined;
  #copiedElsewhere = 0;
  /** Length of the log at the last attempt. A reader of an old snapshot can block checkpoints for a long time. */
  #triedAt = 0;

  constructor(raw: Sqlite.Database, path: string, logger: Pick<Logger, "warn"> | undefined) {
    this.#raw = raw;
    this.#path = path;
    this.#logger = logger;
    this.#checkpointFrames = checkpointBytes / Number(raw.pragma("page_size", { simple: true }));
    this.#look = raw.prepare<[], Progress>("PRAGMA wal_checkpoint(NOOP)");
    this.#beginRead = raw.prepare("BEGIN");
    this.#takeSnapshot = raw.prepare("SELECT count(*) FROM lease");
    this.#endRead = raw.prepare("COMMIT");
  }

  sync(): Promise<void> {
    return fsync(this.#open());
  }

  tend(): Promise<void> | undefined {
    if (this.#copiedElsewhere > 0) return undefined;
    const { log, checkpointed } = this.#look.get() ?? { log: 0, checkpointed: 0 };
    // SQLite restarted the log.
    if (log < this.#triedAt) this.#triedAt = 0;
    if (log - Math.max(checkpointed, this.#triedAt) < this.#checkpointFrames) return undefined;
    this.#triedAt = log;
    return this.checkpoint();
  }

  /**
   * Copies the log into the database file and syncs on the thread pool. While our read transaction is open, no
   * checkpoint passes its snapshot and no process restarts the log. The order is: take a snapshot, sync the log, copy
   * it, sync the database file, and release the snapshot.
   */
  async checkpoint(): Promise<void> {
    try {
      this.#beginRead.run();
      this.#takeSnapshot.get();
      await fsync(this.#open());
      this.#openCopier().pragma("wal_checkpoint(PASSIVE)");
      this.#databaseFile ??= fs.openSync(this.#path, "r+");
      await fsync(this.#databaseFile);
    } catch (error) {
      this.#logger?.warn(
        { path: this.#path, error: String(error) },
        "failed to checkpoint the database's write-ahead log; the checkpoint will be retried",
      );
    } finally {
      if (this.#raw.inTransaction) this.#endRead.run();
    }
  }

  truncate(): void {
    this.#raw.pragma("wal_checkpoint(TRUNCATE)");
  }

  async leaveTo<R>(work: () => Promise<R>): Promise<R> {
    this.#copiedElsewhere += 1;
    try {
      return await work();
    } finally {
      this.#copiedElsewhere -= 1;
    }
  }

  bytes(): number {
    return fs.fstatSync(this.#open()).size;
  }

  close(): () => void {
    this.#copier?.close();
    return () => {
      if (this.#logFile !== undefined) fs.closeSync(this.#logFile);
      if (this.#databaseFile !== undefined) fs.closeSync(this.#databaseFile);
    };
  }

  #open(): number {
    this.#logFile ??= fs.openSync(`${this.#path}-wal`, "r+");
    return this.#logFile;
  }

  #openCopier(): Sqlite.Database {
    if (this.#copier === undefined) {
      this.#copier = new Sqlite(this.#path, { timeout: 0, fileMustExist: true });
      this.#copier.pragma("synchronous = OFF");
      this.#copier.pragma("wal_autocheckpoint = 0");
      // This connection only copies pages, so it needs a small cache.
      this.#copier.pragma("cache_size = -64");
    }
    return this.#copier;
  }
}
