/** The file of a database. */
export interface StoreFile {
  readonly path: string;
  /** The schema's version. */
  readonly version: number;
  readonly fileBytes: number;
  /** Bytes of the write-ahead log; 0 if the store only reads. */
  readonly walBytes: number;
  /** Free bytes, which are used again before the file grows. */
  readonly freeBytes: number;
}

/** Maintenance of the database file: specific to SQLite, and not part of the interfaces that a gateway works with. */
export interface StoreAdmin {
  file(): Promise<StoreFile>;
  /**
   * Returns free pages to the file system; without it they are used again. Runs on its own thread: reading continues,
   * and writes wait until it is done (about a second for every 200 MB that stay). Needs the same amount of free disk.
   */
  vacuum(): Promise<{ readonly freedBytes: number }>;
  /**
   * Writes one committed state to a file of its own (mode 0600), compact, synced and checked for damage, on its own
   * thread. No one waits for it, and writes of other processes do not make it restart. The log grows until it is done.
   * The file must not exist; if something fails, there is none.
   */
  backup(toPath: string): Promise<{ readonly bytes: number }>;
  /** Checks the whole file; holds the event loop meanwhile. */
  integrity(): Promise<{ readonly ok: boolean; readonly problems: readonly string[] }>;
  /**
   * Prepares every statement. Each is prepared by itself when it is first used, so that opening costs little; a service
   * calls this once it is up, and its first calls wait no longer than later ones.
   */
  prepare(): Promise<void>;
  /** Copies the write-ahead log into the database file. Happens by itself. */
  checkpoint(): Promise<void>;
}
