import fs from "node:fs";
import { promisify } from "node:util";
import Sqlite from "better-sqlite3";
import type { StoreLogger } from "./types/store.ts";

const fsync = promisify(fs.fsync);

/** Frames in the log from which on it is copied into the database file. */
const checkpointFrames = 4000;

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
 * log but does not sync it) and the syncs are made here, on libuv's thread pool, before any caller is told of the
 * commit: for the caller the same as `synchronous=FULL`.
 *
 * The descriptors opened here stay open until the connection is closed: closing any descriptor of a file drops all
 * locks the process has on it.
 */
export function writeAheadLog(raw: Sqlite.Database, path: string, logger?: StoreLogger): WriteAheadLog {
  const look = raw.prepare<[], Progress>("PRAGMA wal_checkpoint(NOOP)");
  const beginRead = raw.prepare("BEGIN");
  const takeSnapshot = raw.prepare("SELECT count(*) FROM lease");
  const endRead = raw.prepare("COMMIT");
  let logFile: number | undefined;
  let databaseFile: number | undefined;
  let copier: Sqlite.Database | undefined;
  let copiedElsewhere = 0;

  function open(): number {
    logFile ??= fs.openSync(`${path}-wal`, "r+");
    return logFile;
  }

  function openCopier(): Sqlite.Database {
    if (copier === undefined) {
      copier = new Sqlite(path, { timeout: 0, fileMustExist: true });
      copier.pragma("synchronous = OFF");
      copier.pragma("wal_autocheckpoint = 0");
      // It copies pages and reads none.
      copier.pragma("cache_size = -64");
    }
    return copier;
  }

  /**
   * Copies the log into the database file with the syncs off the event loop. While our read transaction is open no
   * checkpoint goes past its snapshot and no process, ours or another, starts the log anew. So: snapshot, sync the log
   * up to it, copy up to it, sync the database file, and only then let the log be overwritten.
   */
  async function checkpoint(): Promise<void> {
    try {
      beginRead.run();
      takeSnapshot.get();
      await fsync(open());
      openCopier().pragma("wal_checkpoint(PASSIVE)");
      databaseFile ??= fs.openSync(path, "r+");
      await fsync(databaseFile);
    } catch (error) {
      logger?.warn(
        { path, error: String(error) },
        "the checkpoint of the database's log failed; it will be tried again",
      );
    } finally {
      if (raw.inTransaction) endRead.run();
    }
  }

  return {
    sync: () => fsync(open()),
    tend() {
      if (copiedElsewhere > 0) return undefined;
      const progress = look.get();
      if (progress === undefined || progress.log - progress.checkpointed < checkpointFrames) return undefined;
      return checkpoint();
    },
    checkpoint,
    async leaveTo(work) {
      copiedElsewhere += 1;
      try {
        return await work();
      } finally {
        copiedElsewhere -= 1;
      }
    },
    bytes: () => fs.fstatSync(open()).size,
    close() {
      copier?.close();
      return () => {
        if (logFile !== undefined) fs.closeSync(logFile);
        if (databaseFile !== undefined) fs.closeSync(databaseFile);
      };
    },
  };
}
