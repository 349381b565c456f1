import type { CommitQueue } from "./commit-queue.ts";
import type { Database } from "./database.ts";

/** What the parts of a store share. */
export interface Context {
  readonly database: Database;
  readonly queue: CommitQueue;
  readonly now: () => number;
  /** The random part of an id made at `at`. */
  readonly nonce: (at: number) => number;
}
