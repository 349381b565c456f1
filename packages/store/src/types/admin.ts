import type { JsonValue, Millis } from "./common.ts";
import type { SessionSeed } from "./sessions.ts";

/** A database file. */
export interface StoreFile {
  readonly path: string;
  /** Schema version. */
  readonly version: number;
  readonly fileBytes: number;
  /** Size of the write-ahead log in bytes. 0 if the store is read-only. */
  readonly walBytes: number;
  /** Free space in bytes. SQLite reuses it before the file grows. */
  readonly freeBytes: number;
}

/** A part of an imported history that a reset ended, or the current part. */
export interface ImportedGeneration {
  readonly startedAt: Millis;
  /**
   * Messages, oldest first. An entry with `replaces` is a summary of the first `replaces` messages of its generation.
   */
  readonly entries: readonly {
    readonly message: unknown;
    readonly at: Millis;
    readonly replaces?: number;
  }[];
}

/** A session with its history, as another system stored it. */
export interface ImportedSession {
  readonly seed: SessionSeed;
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
  readonly model?: string | undefined;
  readonly thinking?: string | undefined;
  readonly data?: JsonValue | undefined;
  /** Oldest first. The last one is the current history. */
  readonly generations: readonly ImportedGeneration[];
}

/** Maintenance of the SQLite file. This is not part of {@link Store}. */
export interface StoreAdmin {
  /**
   * Creates a session with the history and the times of another system, in one transaction. Leaves an existing session
   * unchanged, unless its newest message has the number `replaces`.
   *
   * @param replaces the `lastSeq` of an earlier import of the session
   * @throws StoreError `invalid` if JSON cannot represent a message
   */
  importSession(
    session: ImportedSession,
    replaces?: number,
  ): Promise<{ readonly outcome: "imported"; readonly lastSeq: number } | { readonly outcome: "exists" }>;
  file(): Promise<StoreFile>;
  /**
   * Returns free pages to the file system. Otherwise SQLite reuses them. Runs in a worker thread: reads continue, and
   * writes wait about one second for every 200 MB of remaining data. Needs as much free disk space as the data
   * occupies.
   */
  vacuum(): Promise<{ readonly freedBytes: number }>;
  /**
   * Writes one committed state to a new file that is compact, synced, checked for damage, and has mode 0600. Runs in a
   * worker thread. Other calls continue, and writes by other processes do not restart the backup. The log grows until
   * the backup is complete.
   *
   * @throws StoreError `invalid` if the file exists. A partial file is removed if anything fails.
   */
  backup(toPath: string): Promise<{ readonly bytes: number }>;
  /** Checks the whole file. Blocks the event loop. */
  integrity(): Promise<{ readonly ok: boolean; readonly problems: readonly string[] }>;
  /**
   * Prepares all statements. By default, each statement is prepared on first use, which keeps opening cheap. A service
   * calls this after startup, so that its first calls are as fast as later ones.
   */
  prepare(): Promise<void>;
  /** Copies the write-ahead log into the database file. The store also does this automatically. */
  checkpoint(): Promise<void>;
}
