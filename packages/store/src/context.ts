import type { CommitQueue } from "./commit-queue.ts";
import type { Database } from "./database.ts";

/** Dependencies that all parts of a store share. */
export interface Context {
  readonly database: Database;
  readonly queue: CommitQueue;
  readonly now: () => number;
  /** Returns the random part of an id created at `at`. */
  readonly nonce: (at: number) => number;
}
