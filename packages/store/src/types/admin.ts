/** The file of a database. */
export interface StoreFile {
  readonly path: string;
  /** Of the schema. */
  readonly version: number;
  readonly fileBytes: number;
  /** Of the write-ahead log; 0 where the store only reads. */
  readonly walBytes: number;
  /** Used again before the file grows. */
  readonly freeBytes: number;
}

/**
 * What is to be done about a database that is a file: of SQLite alone, and of no interface that a gateway works with.
 */
export interface StoreAdmin {
  file(): Promise<StoreFile>;
  /**
   * Gives free pages back to the file system; they are used again without it. Runs on a thread of its own: reading goes
   * on, and writes wait until it is done (about a second for every 200 MB that stay). Needs as much free disk.
   */
  vacuum(): Promise<{ readonly freedBytes: number }>;
  /**
   * Writes one committed state to a file of its own (mode 0600), compact, synced and checked for damage, on its own
   * thread. No one waits for it, and writes of other processes do not make it restart. The log grows until it is done.
   * The file must not exist; if something fails, there is none.
   */
  backup(toPath: string): Promise<{ readonly bytes: number }>;
  /** Looks through the whole file; holds the event loop while it does. */
  integrity(): Promise<{ readonly ok: boolean; readonly problems: readonly string[] }>;
  /**
   * Prepares every statement. Each is prepared by itself when it is first used, so that opening costs little; a service
   * calls this once it is up, and its first calls wait no longer than later ones.
   */
  prepare(): Promise<void>;
  /** Copies the write-ahead log into the database file. Happens by itself. */
  checkpoint(): Promise<void>;
}
