import fs from "node:fs";
import { promisify } from "node:util";
import Sqlite from "better-sqlite3";
import type { Logger } from "./types/logger.ts";

const fsync = promisify(fs.fsync);

/** How long the log grows before it is copied into the database file. */
const checkpointBytes = 16_000_000;

export interface WriteAheadLog {
  /** Everything committed so far is on the disk when this resolves. */
  sync(): Promise<void>;
  /** Checkpoints when the log has grown long. Only between two batches. */
  tend(): Promise<void> | undefined;
  /** Only between two batches. */
  checkpoint(): Promise<void>;
  /** While `work` copies the log elsewhere, nothing of it is copied here, where it would hold the event loop. */
  leaveTo<R>(work: () => Promise<R>): Promise<R>;
  bytes(): number;
  /** To be called before the connection is closed; the result closes what must outlive it. */
  close(): () => void;
}

interface Progress {
  readonly log: number;
  readonly checkpointed: number;
}

/**
 * SQLite's own syncs would hold the event loop, so the connection runs with `synchronous=NORMAL` (a commit writes the
 * log but does not sync it) and the syncs are made here, on libuv's thread pool, before a caller is told of the
 * commit: for the caller the same as `synchronous=FULL`, unless he asked for less.
 *
 * The descriptors opened here stay open until the connection is closed: closing any descriptor of a file drops all
 * locks the process has on it.
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
  /** Each holds a page. */
  readonly #checkpointFrames: number;
  readonly #beginRead: Sqlite.Statement;
  readonly #takeSnapshot: Sqlite.Statement;
  readonly #endRead: Sqlite.Statement;
  #logFile: number | undefined;
  #databaseFile: number | undefined;
  #copier: Sqlite.Database | undefined;
  #copiedElsewhere = 0;
  /** How long the log was at the last try: who reads an old state may keep it from being copied for long. */
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
    // It was begun anew.
    if (log < this.#triedAt) this.#triedAt = 0;
    if (log - Math.max(checkpointed, this.#triedAt) < this.#checkpointFrames) return undefined;
    this.#triedAt = log;
    return this.checkpoint();
  }

  /**
   * Copies the log into the database file with the syncs off the event loop. While our read transaction is open no
   * checkpoint goes past its snapshot and no process, ours or another, starts the log anew. So: snapshot, sync the log
   * up to it, copy up to it, sync the database file, and only then let the log be overwritten.
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
        "the checkpoint of the database's log failed; it will be tried again",
      );
    } finally {
      if (this.#raw.inTransaction) this.#endRead.run();
    }
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
      // It copies pages and reads none.
      this.#copier.pragma("cache_size = -64");
    }
    return this.#copier;
  }
}
