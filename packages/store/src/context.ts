import type { CommitQueue } from "./commit-queue.ts";
import type { Database } from "./database.ts";

/** Dependencies shared by all modules of a store. */
export interface Context {
  readonly database: Database;
  readonly queue: CommitQueue;
  readonly now: () => number;
  /** Returns the random component of an id created at `at`. */
  readonly nonce: (at: number) => number;
}
