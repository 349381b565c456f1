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

/** Maintenance of the SQLite file. This is not part of {@link Store}. */
export interface StoreAdmin {
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
