/** A database file. */
export interface StoreFile {
  readonly path: string;
  /** Schema version. */
  readonly version: number;
  readonly fileBytes: number;
  /** Bytes of the write-ahead log; 0 if the store only reads. */
  readonly walBytes: number;
  /** Free bytes, which SQLite reuses before the file grows. */
  readonly freeBytes: number;
}

/** Maintenance of the SQLite file. Not part of {@link Store}. */
export interface StoreAdmin {
  file(): Promise<StoreFile>;
  /**
   * Returns free pages to the file system. Without it, SQLite reuses them. Runs in a worker thread: reads continue, and
   * writes wait (about one second for every 200 MB of remaining data). Needs as much free disk space as the data
   * occupies.
   */
  vacuum(): Promise<{ readonly freedBytes: number }>;
  /**
   * Writes one committed state to a new file: compact, synced, checked for damage, mode 0600. Runs in a worker thread.
   * Other calls continue, and writes of other processes do not restart it; the log grows until it is done.
   *
   * @throws StoreError `invalid` if the file exists; the file is removed if anything fails
   */
  backup(toPath: string): Promise<{ readonly bytes: number }>;
  /** Checks the whole file. Blocks the event loop. */
  integrity(): Promise<{ readonly ok: boolean; readonly problems: readonly string[] }>;
  /**
   * Prepares all statements. Otherwise each is prepared when it is first used, so that opening is cheap. A service
   * calls this after its start, so that its first calls are as fast as later ones.
   */
  prepare(): Promise<void>;
  /** Copies the write-ahead log into the database file. The store also does this by itself. */
  checkpoint(): Promise<void>;
}
